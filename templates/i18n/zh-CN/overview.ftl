overview-title = 概览
