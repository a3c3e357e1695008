"""Words that translations use for the terms of the field, and those that stand in their place.

The first of a row is what readers know: kubernetes.io/zh-cn for zh-Hans, what Kubernetes and its
vendors write in Taiwan for zh-Hant. The others are wrong there: words of the other language, words
that were converted character by character, or a second word for the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

TERMS: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "zh_Hans": {
        "调度器": ("排程器", "调度程序"),
        "集群": ("丛集", "群集"),
        "节点选择算符": ("节点选择器",),
        "命名空间": ("名字空间", "名稱空間"),
        "污点": ("汙点", "污染点"),
        "容忍度": ("容忍性",),
        "亲和性": ("亲合", "关联性"),
        "驱逐": ("逐出",),
        "申领": ("宣告", "要求声明"),
        "存储类": ("储存类",),
        "标签": ("标记符", "卷标"),
        "镜像": ("映像档", "映象"),
        "优先级": ("优先权", "优先顺序"),
        "特性门控": ("特性开关", "功能门控", "特征门控"),
        "插件": ("外挂", "插件程序"),
        "扩展点": ("扩充点",),
        "干扰预算": ("中断预算",),
        "归一化": ("正规化",),
        "同分": ("平分",),
        "默认": ("预设值", "缺省"),
        "跟随": ("跟踪",),
        "评分": ("打分",),
        "保真度": ("忠实度",),
        "扩展程序": ("扩展器",),
        "随机因素": ("硬币",),
        "账号": ("账户", "帐号", "帐户"),
        "分歧": ("分道扬镳",),
        "撤销": ("撤消",),
        "你": ("您",),
    },
    "zh_Hant": {
        "排程器": ("調度", "排程程式"),
        "叢集": ("集群", "群集"),
        "節點選擇器": ("節點選擇算符",),
        "命名空間": ("名稱空間", "名字空間"),
        "汙點": ("污點",),
        "親和性": ("親合", "關聯性"),
        "驅逐": ("逐出",),
        "宣告": ("聲明", "申領"),
        "磁碟區": ("持久卷", "數據卷"),
        "儲存": ("存儲", "保存"),
        "類別": ("儲存類(?!別)", "裝置類(?!別)", "優先權類(?!別)"),
        "標籤": ("標簽",),
        "映像檔": ("鏡像",),
        "優先權": ("優先級",),
        "功能閘門": ("特性", "門控"),
        "外掛": ("插件",),
        "擴充點": ("擴展點",),
        "正規化": ("歸一化", "規範化"),
        "同分": ("平分",),
        "評分": ("打分",),
        "偏好": ("首選",),
        "必要": ("必需反?親和",),
        "符合": ("匹配",),
        "擁有者": ("所有者",),
        "排空": ("騰空",),
        "複本": ("副本",),
        "預設": ("默認", "缺省"),
        "設定": ("配置", "設置"),
        "使用者": (r"用戶(?!端)", "使用者名(?!稱)"),
        "維運": ("運維",),
        "用戶端": ("客戶端",),
        "伺服器": ("服務器",),
        "網路": ("網絡",),
        "程式": ("程序",),
        "行程": ("進程",),
        "執行緒": ("線程",),
        "檔案": ("文件夾", "日誌文件"),
        "資訊": ("信息",),
        "訊息": ("消息",),
        "資料": ("數據",),
        "品質": ("質量",),
        "記憶體": ("內存",),
        "物件": ("對象",),
        "欄位": ("字段",),
        "清單": ("列表",),
        "文字": ("文本",),
        "字元": ("字符",),
        "位元組": ("字節",),
        "二進位": ("二進制",),
        "位址": ("地址",),
        "連接埠": ("(?<!連)接口", "端口"),
        "函式": ("函數",),
        "變數": ("變量",),
        "常數": ("常量",),
        "運算子": ("運算符",),
        "佇列": ("隊列",),
        "快取": ("緩存",),
        "回應": ("應答", "響應"),
        "支援": ("支持",),
        "載入": ("加載",),
        "匯入": ("導入",),
        "匯出": ("導出",),
        "搜尋": ("搜索",),
        "檢視": ("查看",),
        "登入": ("登錄", "登陸"),
        "連結": ("鏈接",),
        "螢幕": ("屏",),
        "透過": ("通過 (?:list|REST|socket)", "狀況通過"),
        "語意": ("語義",),
        "找不到": ("未找到",),
        "遺失": ("丟失",),
        "分布": ("分佈",),
        "巢狀": ("嵌套",),
        "封存檔": ("歸檔",),
        "解壓縮": ("解壓(?!縮)",),
        "傾印": ("轉儲",),
        "術語表": ("詞彙表",),
        "本機": ("本地",),
        "工作階段": ("會話",),
        "跟隨": ("跟蹤",),
        "週期": ("周期",),
        "種": ("种",),
        "個中": ("箇中",),
        "回答": ("迴答",),
        "並為": ("併為",),
        "課堂的代碼": ("程式碼的課堂",),
        "情境": ("場景",),
        "變更": ("改動",),
        "分頁": ("標籤頁",),
        "剩餘": ("空閒",),
        "條件": ("條款",),
        "標準": ("準則",),
        "實作": ("實現",),
        "述詞": ("謂詞",),
        "對應表": ("映射",),
        "堆積的根": ("堆頂",),
        "核心": (r"[\d個] ?核(?!心)",),
        "張 GPU": ("塊 GPU",),
        "次執行": ("[一兩這那整每]個執行(?!緒|檔案)",),
        "逐個": ("逐一(?:節點|外掛|擴充點|週期| Pod)",),
        "Pod 群組": ("Pod 組(?!成|合)",),
        "in-tree": ("樹內",),
        "現名": ("今名",),
        "時間軸": ("時間線",),
        "印出": ("(?<!、)列印",),
        "帳號": ("帳戶",),
        "承諾": ("許諾",),
        "開啟": ("打開",),
        "傳送": ("發送",),
        "中斷": ("斷開",),
        "當機": ("崩潰",),
        "剪貼簿": ("剪貼板",),
        "攝影機": ("攝像",),
        "你": ("您",),
        "表格": ("錶格",),
        "即時": ("真即時",),
        "只讀": ("唯讀取",),
        "按": ("依 `w`",),
        "或": ("要麼",),
        "與…比較": ("比較物件",),
        "應用程式": ("一個套用",),
    },
}
"""By language: a term, and patterns of what is written in its place."""

CHARACTERS: Final[Mapping[str, str]] = {"zh_Hans": "gb2312", "zh_Hant": "big5"}
"""By language: the character set of before Unicode, which holds none of the other's forms."""

_HAN: Final = re.compile("[\u4e00-\u9fff]")
_WRONG: Final = {
    language: [(re.compile("|".join(wrong)), term) for term, wrong in terms.items()]
    for language, terms in TERMS.items()
}


def wrong_terms(language: str, text: str) -> Iterator[str]:
    """Yield what a translation has in place of a term, and characters of the other language."""
    for pattern, term in _WRONG[language]:
        if found := pattern.search(text):
            yield f"{found[0]!r} in place of {term!r}"
    for character in sorted(set(_HAN.findall(text))):
        try:
            character.encode(CHARACTERS[language])
        except UnicodeEncodeError:
            yield f"{character!r} is no character of {language}"
