"""What can be seen, and what people call it.

A *kind* is what one pixel can be told to show: a category of the benchmark (`ketchup`) or a
part of a fixture (`wooden_cabinet/top drawer`). A *phrase* names a set of kinds; for each kind
it says yes, no, or that either answer is fine.
"""

import re
from dataclasses import dataclass, field

YES, NO, EITHER = 1, 0, -1

# category: (own names, nouns it goes by, colours and materials)
OBJECTS = {
    "akita_black_bowl": ("akita black bowl, akita bowl", "bowl", "black, dark"),
    "black_bowl": ("", "bowl", "black, dark"),
    "bigger_akita_black_bowl": ("", "bowl", "black, dark"),
    "red_akita_black_bowl": ("", "bowl", "red"),
    "white_bowl": ("", "bowl", "white"),
    "yellow_bowl": ("", "bowl", "yellow"),
    "plate": ("", "plate, dish, dinner plate", "white"),
    "yellow_plate": ("", "plate, dish, dinner plate", "yellow"),
    "glazed_rim_porcelain_ramekin": (
        "glazed rim porcelain ramekin, porcelain ramekin",
        "ramekin, ramekin dish, small dish, small cup bowl",
        "white, porcelain",
    ),
    "red_ramekin": ("", "ramekin, ramekin dish, small dish", "red"),
    "chefmate_8_frypan": (
        "chefmate frypan, chefmate 8 frypan, chefmate pan",
        "frying pan, pan, frypan, skillet",
        "black, dark",
    ),
    "moka_pot": ("", "moka pot, coffee pot, pot, coffee maker, espresso maker", "metal, silver"),
    "yellow_moka_pot": ("", "moka pot, coffee pot, pot, coffee maker, espresso maker", "yellow"),
    "basket": ("", "basket, woven basket, bread basket", "brown, wicker"),
    "red_basket": ("", "basket, woven basket, bread basket", "red"),
    "wooden_tray": ("", "tray, serving tray", "wooden, brown"),
    "wine_bottle": ("wine", "wine bottle, bottle of wine, bottle", ""),
    "white_bottle": ("", "wine bottle, bottle of wine, bottle", "white"),
    "porcelain_mug": (
        "porcelain mug, white coffee mug",
        "mug, cup, coffee cup",
        "white, porcelain",
    ),
    "white_porcelain_mug": (
        "porcelain mug, white coffee mug",
        "mug, cup, coffee cup",
        "white, porcelain",
    ),
    "red_coffee_mug": ("red coffee mug", "mug, cup, coffee cup, coffee mug", "red"),
    "white_yellow_mug": (
        "yellow and white mug, white and yellow mug, yellow white mug, white yellow mug, "
        "yellow and white cup, mug with yellow and white",
        "mug, cup, coffee cup",
        "",
    ),
    "libero_mug_yellow": ("solid yellow mug", "mug, cup, coffee cup", "yellow"),
    "libero_mug_green": ("", "mug, cup, coffee cup", "green"),
    "black_book": ("", "book, novel", "black, dark"),
    "yellow_book": ("", "book, novel", "yellow"),
    "red_yellow_book": ("red and yellow book", "book, novel", ""),
    "alphabet_soup": ("", "alphabet soup, soup, soup can, can of alphabet soup, can of soup", ""),
    "bigger_alphabet_soup": ("", "alphabet soup, soup, soup can, can of alphabet soup", "bigger"),
    "red_alphabet_soup": ("", "alphabet soup, soup, soup can, can of alphabet soup", "red"),
    "tomato_sauce": ("", "tomato sauce, tomato sauce can, can of tomato sauce", ""),
    "yellow_tomato_sauce": ("", "tomato sauce, tomato sauce can, can of tomato sauce", "yellow"),
    "bbq_sauce": ("", "bbq sauce, barbecue sauce, bbq, bbq sauce bottle", ""),
    "green_bbq_sauce": ("", "bbq sauce, barbecue sauce, bbq, bbq sauce bottle", "green"),
    "butter": ("", "butter, butter box, stick of butter, box of butter", ""),
    "green_butter": ("", "butter, butter box, stick of butter, box of butter", "green"),
    "cherries": ("", "cherries, can of cherries, cherry can", ""),
    "chocolate_pudding": ("", "chocolate pudding, pudding, pudding box, chocolate", ""),
    "green_chocolate_pudding": ("", "chocolate pudding, pudding, pudding box, chocolate", "green"),
    "cookies": ("", "cookies, cookie box, cookies box, box of cookies, cookie", ""),
    "yellow_cookies": ("", "cookies, cookie box, cookies box, box of cookies", "yellow"),
    "corn": ("", "corn, can of corn, corn can", ""),
    "cream_cheese": ("", "cream cheese, cream cheese box, cheese, box of cream cheese", ""),
    "red_cream_cheese": ("", "cream cheese, cream cheese box, cheese, box of cream cheese", "red"),
    "ketchup": ("", "ketchup, ketchup bottle, bottle of ketchup, tomato ketchup", ""),
    "green_ketchup": ("", "ketchup, ketchup bottle, bottle of ketchup, tomato ketchup", "green"),
    "blue_ketchup": ("", "ketchup, ketchup bottle, bottle of ketchup, tomato ketchup", "blue"),
    "macaroni_and_cheese": ("", "macaroni and cheese, mac and cheese, macaroni", ""),
    "mayo": ("", "mayo, mayonnaise, bottle of mayo", ""),
    "milk": ("", "milk, milk carton, carton of milk, milk box", ""),
    "bigger_milk": ("", "milk, milk carton, carton of milk, milk box", "bigger"),
    "yellow_milk": ("", "milk, milk carton, carton of milk, milk box", "yellow"),
    "orange_juice": ("", "orange juice, juice, carton of orange juice, orange juice carton", ""),
    "red_orange_juice": ("", "orange juice, juice, carton of orange juice", "red"),
    "popcorn": ("", "popcorn, bag of popcorn, popcorn box", ""),
    "salad_dressing": ("", "salad dressing, dressing, salad dressing bottle", ""),
    "new_salad_dressing": ("", "salad dressing, dressing, salad dressing bottle", ""),
    "red_salad_dressing": ("", "salad dressing, dressing, salad dressing bottle", "red"),
}

# Nouns for many things: those it is said of, and those of which it may be said.
GENERAL = {
    "can": ("soup|tomato_sauce|corn$|cherries", ""),
    "tin": ("soup|tomato_sauce|corn$|cherries", ""),
    "box": ("cookies|cream_cheese|butter|pudding|macaroni", "popcorn|milk|juice|book"),
    "carton": ("milk|orange_juice", "cookies|cream_cheese|butter|pudding|macaroni"),
    "bottle": (
        "wine_bottle|white_bottle",
        "ketchup|bbq|dressing|mayo|milk|juice",
    ),
    "sauce": ("tomato_sauce|bbq_sauce", "ketchup|dressing|mayo"),
    "cheese": ("cream_cheese", "macaroni"),
    "drink": ("milk|juice", "wine"),
    "cookware": ("frypan|moka_pot", "bowl|plate"),
    "food": ("HOPE", "wine"),
    "grocery item": ("HOPE", "wine"),
    "object": ("OBJECT", "PART"),
    "item": ("OBJECT", "PART"),
    "thing": ("OBJECT", "PART"),
}
HOPE = "soup|sauce|butter|cherries|pudding|cookies|corn$|cheese|ketchup|mayo|milk|juice|popcorn|dressing"

CABINETS = {
    "wooden_cabinet": "wooden, brown",
    "white_cabinet": "white",
    "yellow_cabinet": "yellow",
    "short_cabinet": "short, small",
}
CABINET_NOUNS = "cabinet, drawer cabinet, chest of drawers, cupboard, drawers"
STOVES = {"flat_stove": "flat", "yellow_stove": "yellow"}
STOVE_NOUNS = "stove, cooktop, stovetop, cooker"
CADDIES = {"desk_caddy": "", "yellow_desk_caddy": "yellow"}
CADDY_NOUNS = "caddy, desk caddy, desk organizer, organizer, desk organiser"
RACKS = {"wine_rack": "wooden", "brown_rack": "brown", "rack": ""}
RACK_NOUNS = "rack, wine rack, bottle rack, wine holder"
SHELVES = {"wooden_two_layer_shelf": "wooden, brown", "wooden_shelf": "wooden, brown"}
SHELF_NOUNS = "shelf, cabinet shelf, two layer shelf, bookshelf, book shelf"
LEVELS = {
    "top": "top, upper, highest, uppermost, first",
    "middle": "middle, center, second",
    "bottom": "bottom, lower, lowest, third",
}
SIDES = {
    "left": "left",
    "right": "right",
    "front": "front",
    "back": "back, rear",
}


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def kinds() -> list[str]:
    """Every kind; the first is everything without a name."""
    listed = ["background", "robot", "gripper", "table", "floor", *OBJECTS]
    for cabinet in CABINETS:
        listed += [f"{cabinet}/body", f"{cabinet}/top"]
        for level in LEVELS:
            listed += [f"{cabinet}/{level} drawer", f"{cabinet}/{level} handle"]
    for stove in STOVES:
        listed += [f"{stove}/{part}" for part in ["body", "burner", "knob"]]
    listed += [f"microwave/{part}" for part in ["body", "top", "door", "handle", "inside"]]
    for caddy in CADDIES:
        listed += [f"{caddy}/body", *(f"{caddy}/{side} compartment" for side in SIDES)]
    listed += [f"{rack}/body" for rack in RACKS]
    for shelf in SHELVES:
        listed += [f"{shelf}/{part}" for part in ["body", "top", "upper", "middle", "lower"]]
    return listed


KINDS = kinds()
INDEX = {kind: index for index, kind in enumerate(KINDS)}


def kind_of(label: str) -> str:
    """The kind of a label `category|body|shape|region` of the picture maker."""
    category, body, shape, region = label.split("|")
    if category == "robot":
        return "gripper" if body.startswith("gripper0") else "robot"
    if category == "room":
        place = f"{body} {shape}"
        if re.search(r"\btable|_table|desk", place) and "leg" not in place:
            return "table"
        return "floor" if "floor" in place and "lamp" not in place else "background"
    if category in OBJECTS:
        return category
    return part_of(category, body, shape, region)


def part_of(category: str, body: str, shape: str, region: str) -> str:
    if category in CABINETS:
        level = next((level for level in LEVELS if level in body), None)
        if level:
            return f"{category}/{level} {'handle' if 'handle' in shape else 'drawer'}"
        return f"{category}/{'top' if region == 'top_side' else 'body'}"
    if category in STOVES:
        if "button" in body:
            return f"{category}/knob"
        return f"{category}/{'burner' if region == 'cook_region' or 'plate' in body else 'body'}"
    if category == "microwave":
        if "door" in body:
            return f"{category}/{'handle' if 'CAPSULE' in shape else 'door'}"
        return f"{category}/" + {"top_side": "top", "heating_region": "inside"}.get(region, "body")
    if category in CADDIES:
        side = region.removesuffix("_contain_region")
        return f"{category}/{side} compartment" if side in SIDES else f"{category}/body"
    if category in SHELVES:
        parts = {"top_side": "top", "top_region": "upper", "middle_region": "middle"}
        return f"{category}/{(parts | {'bottom_region': 'lower'}).get(region, 'body')}"
    return f"{category}/body" if category in RACKS else "background"


def part_group(kind: str) -> str:
    """Kinds of one group are told apart from their neighbours as one part."""
    category, _, part = kind.partition("/")
    level = part.split(" ")[0]
    if category in CABINETS and level in LEVELS and part != "top":
        return f"{category}/{level}"
    return f"{category}/door" if part == "handle" else kind


@dataclass
class Phrase:
    text: str
    yes: set[str] = field(default_factory=set)
    either: set[str] = field(default_factory=set)
    # Whether it names a part of something.
    part: bool = False


class Phrases:
    def __init__(self):
        self.known: dict[str, Phrase] = {}

    def add(self, text: str, yes, either=(), part=False):
        phrase = self.known.setdefault(text, Phrase(text))
        phrase.yes |= set(yes)
        phrase.either |= set(either)
        phrase.part |= part

    def thing(self, categories: dict[str, str], nouns: str, parts=None):
        """A fixture by its nouns and adjectives, and one of its parts or the whole of it."""
        for noun in words(nouns):
            self.add(noun, members(categories, parts))
            for category, adjectives in categories.items():
                rest = members({name: "" for name in categories if name != category}, parts)
                for adjective in words(adjectives):
                    self.add(f"{adjective} {noun}", members({category: ""}, parts), rest)


def members(categories, parts=None) -> list[str]:
    """The kinds of some categories, or those of their parts whose name matches."""
    found = []
    for category in categories:
        for kind in KINDS:
            name, _, part = kind.partition("/")
            if name == category and (parts is None or re.search(parts, part)):
                found.append(kind)
    return found


def objects(pattern: str) -> set[str]:
    if not pattern:
        return set()
    if pattern == "OBJECT":
        return set(OBJECTS)
    if pattern == "PART":
        return {kind for kind in KINDS if "/" in kind}
    if pattern == "HOPE":
        pattern = HOPE
    return {name for name in OBJECTS if re.search(pattern, name)}


def add_objects(phrases: Phrases):
    nouns: dict[str, set[str]] = {}
    for category, (names, own_nouns, _) in OBJECTS.items():
        for name in [*words(names), category.replace("_", " ")]:
            phrases.add(name, {category})
        for noun in words(own_nouns):
            nouns.setdefault(noun, set()).add(category)
    for noun, members_of in nouns.items():
        either = objects("ramekin") if noun in ("bowl", "dish", "cup") else set()
        phrases.add(noun, members_of, either - members_of)
        colours = {}
        for category in members_of:
            for colour in words(OBJECTS[category][2]):
                colours.setdefault(colour, set()).add(category)
        # Some of the plain packages are reddish.
        plain = {category for category in members_of & objects(HOPE) if not OBJECTS[category][2]}
        for colour, coloured in colours.items():
            phrases.add(f"{colour} {noun}", coloured, plain if colour == "red" else ())
    for noun, (yes, either) in GENERAL.items():
        phrases.add(noun, objects(yes), objects(either) - objects(yes))


def add_fixtures(phrases: Phrases):
    phrases.thing(CABINETS, CABINET_NOUNS)
    phrases.thing(STOVES, STOVE_NOUNS)
    phrases.thing({"microwave": "black"}, "microwave, microwave oven, oven")
    phrases.thing(CADDIES, CADDY_NOUNS)
    phrases.thing(RACKS, RACK_NOUNS)
    phrases.thing(SHELVES, SHELF_NOUNS)

    for level, calls in LEVELS.items():
        drawer, handle = rf"^{level} (drawer|handle)$", rf"^{level} handle$"
        for call in words(calls):
            for owner in ["", *words("cabinet, wooden cabinet, white cabinet")]:
                fitting = owner.replace(" ", "_") if " " in owner else ""
                own = [fitting] if fitting in CABINETS else CABINETS
                of = f" of {owner}" if owner else ""
                for text in [
                    f"{call} drawer{of}",
                    f"{call} layer of drawer",
                    f"{owner} {call} drawer",
                ]:
                    categories = own if owner in text and owner else CABINETS
                    phrases.add(text.strip(), members(categories, drawer), part=True)
                for text in [f"handle of {call} drawer{of}", f"{call} drawer handle{of}"]:
                    phrases.add(text.strip(), members(own, handle), part=True)
                phrases.add(f"inside of {call} drawer{of}", members(own, drawer), part=True)
    for noun in ["drawer handle", "handle of drawer", "cabinet handle", "handle", "pull"]:
        either = members(["microwave"], "handle") if noun in ("handle", "pull") else ()
        phrases.add(noun, members(CABINETS, "handle"), either, part=True)
    phrases.add(
        "drawer", members(CABINETS, "drawer|handle"), members(CABINETS, "body|^top$"), part=True
    )
    for text in "top of cabinet, cabinet top, top surface of cabinet, top of drawer, top of wooden cabinet".split(
        ", "
    ):
        phrases.add(text, members(CABINETS, "^top$"), part=True)

    for (
        text
    ) in "burner, stove burner, burner of stove, cooking plate, hot plate, cook region, hob".split(
        ", "
    ):
        phrases.add(text, members(STOVES, "burner"), members(STOVES, "body"), part=True)
    for text in "knob, stove knob, knob of stove, stove button, stove switch, button of stove, switch of stove, dial".split(
        ", "
    ):
        phrases.add(text, members(STOVES, "knob"), part=True)
    for text in "microwave door, door of microwave, door".split(", "):
        phrases.add(text, members(["microwave"], "door|handle"), part=True)
    for text in "microwave handle, handle of microwave, door handle, microwave door handle".split(
        ", "
    ):
        phrases.add(text, members(["microwave"], "handle"), part=True)
    for text in "inside of microwave, microwave interior, microwave inside".split(", "):
        phrases.add(text, members(["microwave"], "inside"), part=True)
    for text in "top of microwave, microwave top".split(", "):
        phrases.add(text, members(["microwave"], "^top$"), part=True)

    for side, calls in SIDES.items():
        for call in words(calls):
            for noun in ["compartment", "slot", "section", "side"]:
                own = members(CADDIES, f"^{side} comp")
                phrases.add(f"{call} {noun} of caddy", own, part=True)
                phrases.add(f"{call} {noun} of desk caddy", own, part=True)
                phrases.add(f"caddy {call} {noun}", own, part=True)
                if noun != "side":
                    phrases.add(f"{call} {noun}", own, part=True)
    phrases.add("compartment", members(CADDIES, "compartment"), members(CADDIES, "body"), part=True)
    for owner in ["shelf", "cabinet shelf"]:
        phrases.add(
            f"top of {owner}", members(SHELVES, "^top$"), members(SHELVES, "upper"), part=True
        )
        for call in ["upper", "top"]:
            phrases.add(
                f"{call} level of {owner}",
                members(SHELVES, "upper"),
                members(SHELVES, "^top$"),
                part=True,
            )
        for call in ["lower", "bottom"]:
            phrases.add(f"{call} level of {owner}", members(SHELVES, "lower"), part=True)
            phrases.add(f"{call} {owner}", members(SHELVES, "lower"), members(SHELVES), part=True)

    for text in "robot, robot arm, arm, panda".split(", "):
        phrases.add(text, {"robot"}, {"gripper"})
    for text in "gripper, robot gripper, robot hand, fingers, gripper fingers".split(", "):
        phrases.add(text, {"gripper"}, {"robot"}, part=True)
    for text in "table, desk, tabletop, table top, counter, countertop, table surface".split(", "):
        phrases.add(text, {"table"}, {"floor"})
    for text in "floor, ground".split(", "):
        phrases.add(text, {"floor"}, {"table"})


def all_phrases() -> list[Phrase]:
    phrases = Phrases()
    add_objects(phrases)
    add_fixtures(phrases)
    return sorted(phrases.known.values(), key=lambda phrase: phrase.text)


def canonical() -> dict[str, str]:
    """For evaluation: each category's most usual phrase."""
    names = {}
    for category, (_own, nouns, colours) in OBJECTS.items():
        noun, colour = words(nouns)[0], next(iter(words(colours)), "")
        plain = colour in ("", "metal", "bigger", "porcelain") or noun in (
            "plate",
            "basket",
            "frying pan",
        )
        special = colour in ("red", "yellow", "green", "blue") and plain
        names[category] = f"{colour} {noun}" if not plain or special else noun
    names |= {
        "glazed_rim_porcelain_ramekin": "ramekin",
        "white_yellow_mug": "yellow and white mug",
        "red_yellow_book": "book",
        "wooden_tray": "tray",
        "akita_black_bowl": "black bowl",
        "libero_mug_yellow": "yellow mug",
    }
    for group, noun in [
        (CABINETS, "cabinet"),
        (STOVES, "stove"),
        (CADDIES, "caddy"),
        (SHELVES, "shelf"),
    ]:
        names |= {category: noun for category in group}
    return names | {
        "microwave": "microwave",
        "wine_rack": "wine rack",
        "brown_rack": "rack",
        "rack": "rack",
    }


# Things that are never there: the answer to them is "not found".
STRANGERS = """giraffe elephant dog cat horse cow sheep bird duck fish shark whale lion tiger bear wolf fox
rabbit mouse rat hamster snake lizard frog turtle spider ant bee butterfly car truck bus bicycle motorcycle
train airplane helicopter boat ship rocket tractor scooter skateboard wheel tire engine hammer screwdriver
wrench pliers saw drill nail screw bolt nut ladder rope chain hook axe shovel rake broom mop bucket hose
scissors knife fork spoon chopsticks ladle spatula whisk grater peeler toaster blender kettle mixer
fridge refrigerator freezer dishwasher sink faucet tap bathtub shower toilet towel soap shampoo toothbrush
toothpaste comb brush mirror lamp candle torch lantern light bulb battery charger cable phone telephone
smartphone tablet laptop computer keyboard monitor screen television remote camera printer speaker headphones
radio clock watch alarm calendar pen pencil eraser ruler notebook paper envelope stamp letter newspaper
magazine folder stapler tape glue marker crayon paint canvas painting picture frame poster sculpture vase flower
rose tulip tree leaf grass bush cactus apple banana pear peach grape strawberry blueberry raspberry lemon lime
melon watermelon pineapple mango kiwi coconut avocado tomato potato carrot onion garlic pepper cucumber lettuce
cabbage broccoli spinach mushroom pumpkin bean pea rice pasta noodle bread toast bagel croissant cake pie donut
pancake waffle muffin pizza burger sandwich hotdog taco burrito sushi steak chicken turkey ham bacon sausage egg
yogurt ice cream honey jam peanut oil vinegar salt sugar flour tea cola beer whiskey water bottle cap straw napkin
tissue sponge detergent bleach shoe boot sandal sock glove hat cap scarf shirt jacket coat trousers jeans dress
skirt belt tie ring necklace bracelet earring glasses sunglasses umbrella backpack suitcase handbag wallet purse
key lock door bell window curtain carpet rug pillow blanket mattress bed sofa couch armchair chair stool bench
fence gate bridge tower castle church house tent flag ball football basketball baseball tennis racket golf club
bat hockey stick puck dart kite doll teddy bear toy puzzle dice card chess piece balloon drum guitar piano violin
trumpet flute harp microphone baby man woman child face hand foot nose eye ear hair tooth bone skull heart brain
moon sun star cloud rain snow mountain river ocean beach island volcano desert forest diamond gold silver coin
banknote credit card passport ticket map globe compass telescope microscope magnet needle thread button zipper
fabric wool leather feather shell stone brick concrete tile pipe wire fan heater radiator fireplace chimney stove pipe
syringe pill bandage thermometer stethoscope wheelchair crutch anchor sail parachute sword shield helmet armor bow
arrow gun cannon bomb spaceship robot dog dragon unicorn ghost witch wizard crown throne treasure chest pirate
hundredth purple elephant stapler remover traffic light stop sign fire hydrant parking meter mailbox trash can bin""".split()
STRANGE_COLOURS = (
    "purple pink turquoise orange striped transparent golden cyan magenta violet beige".split()
)
# Of these, a colour that none of them has is "not found".
COLOURED_NOUNS = "bowl mug book plate ramekin basket".split()


def strangers(phrases: list[Phrase]) -> list[str]:
    """Words that occur in no phrase."""
    said = {word for phrase in phrases for word in phrase.text.split()}
    return sorted(set(STRANGERS) - said)
