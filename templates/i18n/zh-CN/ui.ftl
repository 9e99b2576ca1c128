ui-unknown = 未知
ui-copy = 复制 { $text }
ui-pager = 列表翻页
ui-previous = 上一页
ui-next = 下一页
ui-live = 实时
ui-live-hint = 本页随变化自动更新
ui-brokers-covered = { $asked } 个 Broker 中有 { $answered } 个应答
