import { all, element } from './dom.js';

const SHOWN_MS = 1500;

/** A button beside each block of code. */
export function addCopyButtons(): void {
  for (const block of all('main pre')) {
    const button = element('button', { type: 'button', className: 'copy', textContent: 'Copy' });
    button.addEventListener('click', () => void copy(block, button));
    const around = element('div', { className: 'code' });
    block.replaceWith(around);
    around.append(block, button);
  }
}

async function copy(block: HTMLElement, button: HTMLButtonElement): Promise<void> {
  const isCopied = await write(block.textContent ?? '');
  button.textContent = isCopied ? 'Copied' : 'Press Ctrl-C';
  if (!isCopied) getSelection()?.selectAllChildren(block);
  setTimeout(() => {
    button.textContent = 'Copy';
  }, SHOWN_MS);
}

/** Over plain HTTP, other than on localhost, pages have no clipboard. */
const write = (text: string): Promise<boolean> =>
  Promise.resolve(navigator.clipboard?.writeText(text)).then(
    () => navigator.clipboard !== undefined,
    () => false,
  );
