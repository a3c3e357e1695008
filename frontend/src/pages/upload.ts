// The entry of the page on which files are uploaded.

import { enhanceUpload } from "../views/forms/upload.ts";

const form = document.querySelector<HTMLFormElement>("form[data-upload]");
if (form) enhanceUpload(form);
