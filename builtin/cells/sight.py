# What is seen, as shapes: points of the visible surface, in metres, z up.
import json

SIZE = 512  # pixels a side of the pictures that are measured


def told(**what):
    """Prints what a step measured, as the one line of JSON that the planner reads."""

    def plain(value):
        if isinstance(value, (list, tuple, np.ndarray)):
            return [plain(part) for part in value]
        if isinstance(value, (bool, np.bool_)):
            return bool(value)
        return round(float(value), 4) if isinstance(value, (float, np.floating)) else value

    print(json.dumps({name: plain(value) for name, value in what.items()}))


def circle(xy):
    """Centre and radius of the circle that fits best (Kasa's least squares)."""
    rows = np.column_stack([2 * xy, np.ones(len(xy))])
    x, y, c = np.linalg.lstsq(rows, (xy**2).sum(axis=1), rcond=None)[0]
    return np.array([x, y]), math.sqrt(max(c + x * x + y * y, 0.0))


def rectangle(xy):
    """The smallest rectangle around points: centre, (short, long) side, angle of the short one."""
    best = None
    for degrees in range(0, 90, 5):
        turn = math.radians(degrees)
        axes = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
        low, high = np.percentile(xy @ axes.T, [1.5, 98.5], axis=0)
        sides = high - low
        # Turned boxes must be clearly smaller: what is round stays unturned.
        area = sides[0] * sides[1] * (1.0 if degrees == 0 else 1.06)
        if best is None or area < best[0]:
            best = (area, axes.T @ ((low + high) / 2), sides, turn)
    _, centre, sides, turn = best
    if sides[0] <= sides[1]:
        return centre, (sides[0], sides[1]), turn
    return centre, (sides[1], sides[0]), turn + math.pi / 2


class Thing:
    """Something seen: its points, and the shape they tell of."""

    def __init__(self, name, points, around):
        self.name, self.points = name, points
        # Lower than the fingers there is nothing of the arm.
        self.around = around[around[:, 2] < robo.state().eef_pos[2] - 0.015]
        self.low, self.top = (float(v) for v in np.percentile(points[:, 2], [1, 99.5]))
        xy = points[:, :2]
        self.centre, (self.short, self.long), self.turn = rectangle(xy)
        self.low = self.foot()
        self.height = self.top - self.low
        self.floor, self.kind, self.radius = self.top, "body", 0.0
        if "compartment" in name:
            self.be_bin()
            return
        if self.height < 0.036 and self.long > 0.10:
            self.be_plate()
            return
        if self.height < 0.08 and self.long > 0.2 and self.be_pan():
            return
        band = points[points[:, 2] > self.top - max(0.008, 0.12 * self.height)]
        if len(band) < 20:
            return
        middle, radius = circle(band[:, :2])
        away = np.linalg.norm(band[:, :2] - middle, axis=1)
        round_rim = abs(away - radius).mean() < 0.12 * radius and 0.02 < radius < 0.12
        centre = middle if round_rim else (band[:, :2].min(axis=0) + band[:, :2].max(axis=0)) / 2
        reach = radius if round_rim else 0.4 * min(self.short, self.long)
        inside = points[np.linalg.norm(xy - centre, axis=1) < 0.55 * reach]
        lower = self.top - max(0.012, 0.3 * self.height)
        # Into something deep one does not see from the side: then its middle is empty.
        hole = (away < 0.55 * radius).mean() < 0.02 if round_rim else len(inside) < 6
        deep = self.height > 0.05 and hole and (round_rim or self.short > 0.1)
        if deep or (len(inside) > 20 and np.median(inside[:, 2]) < lower):
            self.kind = "hollow" if round_rim else "box"
            self.centre, self.radius = centre, reach
            self.floor = self.low if deep else float(np.median(inside[:, 2]))
            return
        # A bottle's front hides half of it, its cap is seen whole.
        cap, (short, long), _ = rectangle(band[:, :2])
        if short * long < 0.6 * self.short * self.long and self.height > 0.05:
            self.kind, self.centre = "bottle", cap

    def foot(self):
        """Where it stands: what hides its foot, or its own top, may leave that unseen."""
        beside = np.linalg.norm(self.around[:, :2] - self.centre, axis=1) < self.long / 2 + 0.03
        z = self.around[beside, 2]
        only_top = self.top - self.low < 0.01
        under = z[z < self.top - 0.006] if only_top else z[abs(z - self.low + 0.015) < 0.02]
        return min(self.low, float(np.median(under))) if len(under) > 20 else self.low

    def be_bin(self):
        """A compartment: what counts is what lies below its rim."""
        inner = self.points[self.points[:, 2] < self.top - 0.015]
        if len(inner) > 40:
            self.centre, (self.short, self.long), self.turn = rectangle(inner[:, :2])
            self.floor = float(np.percentile(inner[:, 2], 2))
        self.kind = "box"

    def be_pan(self):
        """A pan: a round floor, and a handle that reaches far beyond it."""
        level = ground(self.points, bins=12)
        flat = self.points[abs(self.points[:, 2] - level) < 0.006][:, :2]
        low, high = np.percentile(flat, [1, 99], axis=0)
        centre, radius = (low + high) / 2, float((high - low).mean()) / 2
        away = np.linalg.norm(self.points[:, :2] - centre, axis=1)
        handle = self.points[away > np.percentile(away, 85) + 0.012]
        if len(handle) < 40:
            return False
        self.kind, self.centre, self.radius, self.handle = "pan", centre, radius, handle
        return True

    def be_plate(self):
        """A plate, also one that the picture's edge cuts off: its rim is a circle."""
        rim = self.points[self.points[:, 2] > self.top - 0.003][:, :2]
        if len(rim) < 20:
            return
        centre, radius = circle(rim)
        off = abs(np.linalg.norm(rim - centre, axis=1) - radius).mean()
        if 0.04 < radius < 0.14 and off < 0.1 * radius:
            self.kind, self.centre, self.radius = "plate", centre, radius
            self.floor = float(np.median(self.within(0.6 * radius)[:, 2]))
            self.short = self.long = 2 * radius

    def within(self, reach):
        near = np.linalg.norm(self.points[:, :2] - self.centre, axis=1) < reach
        return self.points[near] if near.any() else self.points

    def facts(self):
        return dict(
            kind=self.kind,
            centre=[*self.centre, self.low],
            height=self.height,
            sides=[self.short, self.long],
            radius=self.radius,
            floor=self.floor,
            pixels=len(self.points),
        )


def shrunk(mask):
    """A mask without its outermost pixels, which may show what lies behind."""
    inner = mask.copy()
    inner[1:] &= mask[:-1]
    inner[:-1] &= mask[1:]
    inner[:, 1:] &= mask[:, :-1]
    inner[:, :-1] &= mask[:, 1:]
    return inner if inner.sum() >= 60 else mask


def main_part(points):
    """The points that hang together, seen from above: a mask may spill onto what is behind."""
    xy = points[:, :2]
    cells = np.floor((xy - xy.min(axis=0)) / 0.012).astype(int)
    counts = np.zeros((int(cells[:, 0].max()) + 1, int(cells[:, 1].max()) + 1))
    np.add.at(counts, (cells[:, 0], cells[:, 1]), 1)
    part = counts == counts.max()
    while True:
        wide = part.copy()
        wide[1:] |= part[:-1]
        wide[:-1] |= part[1:]
        rows = wide.copy()
        wide[:, 1:] |= rows[:, :-1]
        wide[:, :-1] |= rows[:, 1:]
        wide &= counts >= 2
        if (wide == part).all():
            break
        part = wide
    kept = part[cells[:, 0], cells[:, 1]]
    return points[kept] if kept.mean() > 0.5 else points


def off_the_table(points, around):
    """Without the table beside the thing, onto which a mask spills along its outline."""
    kept = points[points[:, 2] > ground(around) + 0.005]
    return kept if len(kept) > 0.6 * len(points) else points


def find_all(words, camera="agentview", show=False):
    """The things that words describe, the likeliest first; and why there are none."""
    seen = robo.segment(words, camera=camera, resolution=SIZE, top_k=6)
    if show and seen.overlay_artifact:
        display(robo.artifact(seen.overlay_artifact), words)
    if not seen.found:
        return [], seen.error or "nothing like it"
    world = robo.world_map(camera, resolution=SIZE)
    finite = np.isfinite(world).all(axis=2)
    things_seen = []
    for one in (seen, *seen.others):
        mask = np.array(one.mask)
        points = world[shrunk(mask) & finite]
        if len(points) >= 15:
            around = world[~mask & finite]
            points = main_part(off_the_table(points, around))
            things_seen.append(Thing(words, points, around))
    return things_seen, None if things_seen else "too little of it is seen"


def look(name, words, alone=False):
    """Finds a thing, shows what was found and keeps it under a name.

    alone takes it only when there is no second one that the words fit."""
    found, why = find_all(words, show=True)
    if alone and len(found) > 1:
        found, why = [], f"there are {len(found)} of them"
    if not found:
        told(found=False, words=words, why=why)
        return
    things[name] = found[0]
    told(found=True, words=words, **found[0].facts())


def look_again(name, words):
    """Finds the thing kept under a name where it is now: the nearest of its kind."""
    clear_view()
    found, why = find_all(words)
    if not found:
        told(found=False, words=words, why=why)
        return
    before = things[name]
    near = min(found, key=lambda one: float(np.linalg.norm(one.centre - before.centre)))
    moved = float(np.linalg.norm(near.centre - before.centre))
    if moved < 0.06 and near.short * near.long < 0.7 * before.short * before.long:
        # Partly hidden now: it was seen better before.
        before.around, near = near.around, before
    things[name] = near
    told(found=True, words=words, moved=moved, **near.facts())


things = {}
