// What is asked of the server over HTTP: words for one that cannot be reached, and one that fails without words.

import { t } from "../base/text/text.ts";

/** Fetch. Who gave up hears of that; others hear in their language that nothing came. */
export async function reach(...asked: Parameters<typeof fetch>): Promise<Response> {
  try {
    return await fetch(...asked);
  } catch (error) {
    if (asked[1]?.signal?.aborted) throw error;
    throw new Error(t("server.unreachable"), { cause: error });
  }
}

/** What to say of a response that is no answer and has no words of its own, as a proxy's. */
export const failure = ({ status }: Response): string => t("server.failed", { status });
