/** Whether an `Accept` header is that of a browser which opens a page, and not of a program. */
export const wantsPage = (accept = ''): boolean => /(^|,)\s*text\/html\s*(;|,|$)/i.test(accept);
