// What the editor says. CodeMirror's own words are English; the keys are those.
import { inLanguage } from "../dom.js";

export const words = inLanguage({
  zh: {
    hint: "Tab 缩进，Ctrl+F 查找。要用键盘离开编辑框，先按 Esc，再按 Tab。",
    phrases: {
      Find: "查找",
      Replace: "替换为",
      next: "下一个",
      previous: "上一个",
      all: "全部选中",
      "match case": "区分大小写",
      regexp: "正则表达式",
      "by word": "全词匹配",
      replace: "替换",
      "replace all": "全部替换",
      close: "关闭",
      "current match": "当前匹配",
      "on line": "在第几行：",
      "replaced match on line $": "已替换第 $ 行的匹配",
      "replaced $ matches": "已替换 $ 处",
      "Go to line": "跳到第几行",
      go: "跳转",
      "Selection deleted": "已删除选中的内容",
      "Control character": "控制字符",
    },
  },
  en: {
    hint: "Tab indents, Ctrl+F finds. To leave the box by keyboard, press Escape, then Tab.",
    phrases: {},
  },
});
