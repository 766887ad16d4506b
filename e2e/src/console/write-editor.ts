import type { Page } from 'playwright-core';

/**
 * Replaces the text of an editor as a person does who selects all and pastes. `fill` lets the browser itself edit the
 * coloured text, which it would do with style attributes.
 */
export async function writeEditor(page: Page, label: string, text: string): Promise<void> {
  const box = page.getByRole('textbox', { name: label, exact: true });
  await box.click();
  await box.press('ControlOrMeta+a');
  await box.evaluate(PASTE, text);
}

/** Runs in the page, whose types this program does not have. */
const PASTE = new Function(
  'element',
  'text',
  `const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  const options = { clipboardData, bubbles: true, cancelable: true, composed: true };
  element.dispatchEvent(new ClipboardEvent('paste', options));`,
) as (element: unknown, text: string) => void;

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
