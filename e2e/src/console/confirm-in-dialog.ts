import type { Page } from 'playwright-core';

/**
 * Presses the button of this name in the open dialog and waits until the dialog has closed, which it does when the
 * work is done. A row or a link that vanishes shows nothing before: the page below an open dialog is hidden from roles.
 */
export async function confirmInDialog(page: Page, verb: string): Promise<void> {
  const dialog = page
    .getByRole('dialog')
    .filter({ has: page.getByRole('button', { name: verb, exact: true }) });
  await dialog.getByRole('button', { name: verb, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}
