# Putting down what the hand holds.
HALF_HAND = 0.035  # metres above the fingers' centre that the palm keeps clear of a rim
SIDES = {
    "to the right of": (0.0, 1.0),
    "to the left of": (0.0, -1.0),
    "in front of": (1.0, 0.0),
    "behind": (-1.0, 0.0),
    "next to": (0.0, 1.0),
}


def plateau(thing):
    """The level that most of a thing has, and the middle of it."""
    level = ground(thing.points, bins=max(4, int(thing.height / 0.004)))
    flat = thing.points[abs(thing.points[:, 2] - level) < 0.006][:, :2]
    low, high = np.percentile(flat, [1, 99], axis=0)
    return (low + high) / 2, level


def spot_of(place, relation, thing):
    """Where in the plane and how high the thing comes to rest."""
    if relation in SIDES:
        side = np.array(SIDES[relation])
        middle = place.centre if place.kind in ("plate", "hollow") else plateau(place)[0]
        half = (thing.long if thing.kind == "plate" else thing.short) / 2
        # Beside furniture a hand has to fit between.
        reach = place.short / 2 + (0.14 if place.short > 0.16 else half + 0.005)
        return middle + reach * side, ground(place.around)
    if place.kind in ("plate", "hollow") or (place.kind == "box" and relation == "in"):
        return np.array(place.centre), place.floor
    if "rack" in place.name:
        # A rack slopes: low on its upper board, where the stopper is near.
        z = place.points[:, 2]
        board = place.points[abs(z - place.low - 0.72 * place.height) < 0.012]
        middle = np.median(board, axis=0)
        return middle[:2], float(middle[2]) - 0.012
    return plateau(place)


def goes_inside(place, relation):
    """Whether a thing that is put there vanishes between walls."""
    return relation == "in" and place.kind in ("box", "hollow") and place.height > 0.06


def narrow_side_in(place, thing, yaw, offset):
    """The hand's yaw, and where the thing is from it, that fit it into a narrow place."""
    turn = (place.turn - thing.turn + math.pi / 2) % math.pi - math.pi / 2
    c, s = math.cos(turn), math.sin(turn)
    return yaw + turn, np.array([[c, -s], [s, c]]) @ offset


def put(name, relation, share=0, gap=0.006):
    """Puts the held thing on, in or beside the thing kept under a name.

    share is -1 or 1 when the place has to hold two, gap the height to let go from."""
    global held
    place, thing, hangs = things[name], held["thing"], held["hangs"]
    spot, floor = spot_of(place, relation, thing)
    inside = goes_inside(place, relation)
    if share and inside:
        spot = spot + share * np.array([0.03, 0.0])
    elif share:
        narrow = np.array([math.cos(thing.turn), math.sin(thing.turn)])
        spot = spot + share * 0.042 * narrow * (1.0 if narrow.sum() > 0 else -1.0)
    yaw, offset = robo.state().eef_yaw, held["offset"]
    if inside and place.kind == "box" and place.short < 0.09:
        yaw, offset = narrow_side_in(place, thing, yaw, offset)
    x, y = spot - offset
    here = robo.state().eef_pos
    over = tallest(place.around, here, (x, y), 0.08 + min(0.07, thing.long / 2))
    travel = max(over, floor if relation in SIDES else place.top) + held["below"] + 0.03
    rise(min(travel, ceiling(here)), robo.CLOSE)
    low = floor + hangs + gap
    if inside:
        # The palm is wider than the opening, so it stays above the rim.
        low = max(low, place.top + HALF_HAND)
    high = max(low, min(max(travel, robo.state().eef_pos[2] - 0.02), ceiling((x, y))))
    turn_wrist(yaw, robo.CLOSE)
    if go([x, y, high], robo.CLOSE).final_dist_m > 0.04 and not robo.done:
        # Something was in the way: over it.
        level_hand(robo.CLOSE)
        high += 0.08
        rise(high, robo.CLOSE)
        go([x, y, high], robo.CLOSE)
    go([x, y, high], robo.CLOSE, clip=0.02, tol=0.005, steps=25)
    kept = robo.state().gripper_opening > 0.0035
    if kept and not robo.done:
        go([x, y, low], robo.CLOSE, clip=0.025, tol=0.006, steps=50)
    at = np.array(robo.state().eef_pos)
    if not robo.done:
        robo.release(max_steps=12)
    if not robo.done:
        go(at + np.array([0, 0, 0.12]), robo.OPEN, clip=0.03, tol=0.02)
    thing.centre, held = spot, None
    told(
        kept=kept,
        spot=[*spot, floor],
        off_mm=1000 * np.linalg.norm(at[:2] - np.array([x, y])),
        let_go_at=at[2],
        done=robo.done,
    )


def check(name, words, where, relation):
    """Sees whether the thing kept under a name came to rest where it was put."""
    clear_view()
    place, thing = things[where], things[name]
    found, why = find_all(words)
    inside = goes_inside(place, relation)
    wide = max(place.short, place.long) / 2 if inside else 0.04
    if not found:
        # Inside something deep it may not be seen any more.
        told(placed=inside, seen=False, why=why)
        return
    near = min(found, key=lambda one: float(np.linalg.norm(one.centre - thing.centre)))
    off = float(np.linalg.norm(near.centre - thing.centre))
    placed = off < wide
    things[name] = near
    told(placed=placed, seen=True, off_mm=1000 * off, at=[*near.centre, near.low])


def clear_view():
    """Takes the arm out of the fixed camera's way."""
    x, y, z = robo.state().eef_pos
    if not robo.done:
        go([min(x, -0.15), y * 0.3, z + 0.05], robo.OPEN, tol=0.04)
