# The HTML report's page, script and chart library (Debian's libjs-chart.js).
find_file(CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist NO_DEFAULT_PATH REQUIRED)
assay_embed(report_page validation/report/report.html validation/report/report.js ${CHART_JS})
