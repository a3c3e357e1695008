from kviz.runs.marked_text import marked_lines

TEN = "\n".join(f"line {n}" for n in range(1, 11))


def test_a_bad_line_comes_with_its_neighbours() -> None:
    marked = marked_lines(TEN, {5})
    assert [line.number for line in marked] == [3, 4, 5, 6, 7]
    assert [line.number for line in marked if line.is_bad] == [5]


def test_lines_left_out_show_as_one_gap() -> None:
    marked = marked_lines(TEN, {1, 10})
    assert [line.number for line in marked] == [1, 2, 3, 0, 8, 9, 10]


def test_a_line_beyond_the_end_is_not_shown() -> None:
    assert marked_lines("one line", {9}) == []
