// English, for all that leaves the Explorer: links, and the way to the menu of files.

export const exporting = {
  "topbar.share": "Share",
  "topbar.share.gloss": "Copy a link that opens exactly this view",
  "share.copied": "Link copied",
  "share.failed": "Copy the address from the address bar",
  "command.share": "Copy a link to this view",
  "command.export": "Export: the run, pictures, tables",
  "topbar.export.gloss": "Save the run, a picture or a table",
  "topbar.export": "Export",
} as const;
