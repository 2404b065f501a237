import pytest

from identify.errors import did_you_mean

KNOWN = ("stars", "tx40", "Mass", "m")


@pytest.mark.parametrize(
    ("word", "nearest"),
    [("STARS", "stars"), ("mass", "Mass"), ("stras", "stars"), ("M", "m"), ("x", ""), ("far", "")],
)
def test_the_nearest_word_is_the_hint(word, nearest):
    assert did_you_mean(word, KNOWN) == (f"; did you mean {nearest!r}?" if nearest else "")
