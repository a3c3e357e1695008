module kviz/tests/oracle

go 1.26.0
