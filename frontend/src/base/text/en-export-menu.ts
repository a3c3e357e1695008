// English: the menu of files, and the same commands in the palette.

export const exportMenu = {
  "export.group.run": "The whole run",
  "export.group.picture": "Pictures, as shown",
  "export.group.table": "Tables as CSV, all rows",
  "export.run-file": "Run as a file (.kviz)",
  "export.run-page": "Offline page (.html)",
  "export.map-png": "Map as PNG",
  "export.map-svg": "Map as SVG",
  "export.map-copy": "Copy the map as an image",
  "export.timeline-png": "Timeline as PNG",
  "export.timeline-svg": "Timeline as SVG",
  "export.csv-nodes": "Nodes",
  "export.csv-filter": "Filter: nodes by plugin",
  "export.csv-scores": "Scores: nodes by plugin",
  "export.csv-dryRuns": "Preemption: dry runs",
  "export.csv-criteria": "Preemption: the choice of a node",
  "export.csv-cache": "Cache: pods of a node",
  "export.csv-events": "Events of a pod",
  "export.csv-log": "Log of the cycle",
  "export.csv-queues": "Queues",
  "export.csv-cycles": "Cycles",
} as const;
