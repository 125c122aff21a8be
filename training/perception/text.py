"""A phrase as numbers: hashed words, pairs of words and triples of letters.

`nodes/perception/src/builtin/text.rs` does the same in Rust.
"""

import functools
import itertools

STOP_WORDS = {"the", "a", "an", "of", "this", "that", "please", "some", "my"}
BUCKETS = 8192
WORDS, PAIRS, TRIPLES = 12, 12, 64
SLOTS = WORDS + PAIRS + TRIPLES


def fnv1a(text: str) -> int:
    value = 0x811C9DC5
    for byte in text.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


@functools.cache
def bucket(feature: str) -> int:
    """1 to `BUCKETS - 1`; 0 is no feature."""
    return 1 + fnv1a(feature) % (BUCKETS - 1)


def normal(phrase: str) -> list[str]:
    text = "".join(letter if letter.isalnum() else " " for letter in phrase.lower())
    return [word for word in text.split() if word not in STOP_WORDS][:WORDS]


def features(phrase: str) -> list[int]:
    """`SLOTS` numbers: words, then pairs, then triples, each filled up with 0."""
    words = normal(phrase)
    pairs = [f"p:{left} {right}" for left, right in itertools.pairwise(words)]
    triples = []
    for word in words:
        letters = f"#{word}#"
        triples += [f"t:{letters[start : start + 3]}" for start in range(len(letters) - 2)]
    slots = []
    for found, room in [
        ([f"w:{word}" for word in words], WORDS),
        (pairs, PAIRS),
        (triples, TRIPLES),
    ]:
        numbers = [bucket(feature) for feature in found[:room]]
        slots += numbers + [0] * (room - len(numbers))
    return slots
