"""Traditional Chinese is made of simplified: phrases first, the rest by OpenCC, overrides last."""

from __future__ import annotations

from pathlib import Path

import pytest
from babel.messages import Catalog

from kviz.catalogues.catalogues import conversion, converting, phrases_of, traditional


@pytest.mark.parametrize(
    ("simplified", "made"),
    [
        ("调度器把 Pod 绑定到节点。", "排程器把 Pod 綁定到節點。"),
        ("优先级类按名称排列", "優先權類別依名稱排列"),
        ("按 `w` 键或按下按钮", "按 `w` 鍵或按下按鈕"),
        ("4 核和 8Gi 内存", "4 核心和 8Gi 記憶體"),
        ("被树内插件拒绝", "被 in-tree 外掛拒絕"),
        ("“默认”配置方案", "「預設」設定組"),
        ("{n} 个节点中的 %(m)s 个", "{n} 個節點中的 %(m)s 個"),
    ],
)
def test_taiwan_calls_it_so(simplified: str, made: str) -> None:
    assert conversion()(simplified) == made


def test_the_longest_phrase_counts() -> None:
    convert = converting({"按": "依", "按钮": "按鈕"})
    assert convert("按次序按按钮") == "依次序依按鈕"


def test_a_text_may_be_overridden() -> None:
    written = Catalog(locale="zh_Hans")
    written.add("Undo", "撤销")
    written.add("Revoke", "撤销")
    made = {message.id: message.string for message in traditional(written) if message.id}
    assert made == {"Undo": "復原", "Revoke": "撤銷"}


def test_all_forms_of_a_text_are_converted() -> None:
    written = Catalog(locale="zh_Hans")
    written.add(("%(n)s node", "%(n)s nodes"), ["%(n)s 个节点"])
    (made,) = (message.string for message in traditional(written) if message.id)
    assert made in (["%(n)s 個節點"], ("%(n)s 個節點",))


def test_a_phrase_is_there_once(tmp_path: Path) -> None:
    file = tmp_path / "phrases.tsv"
    file.write_text("按\t依\n按\t按\n", encoding="utf-8")
    with pytest.raises(ValueError, match="按 is there twice"):
        phrases_of(file)
