/** Nobody is there. */
export const WEBHOOK_URL = 'https://webhooks.invalid/';
