// What scripts add to a page that is whole without them.
import { addCopyButtons } from './copy.js';
import { all } from './dom.js';
import { leadOn } from './old-anchors.js';
import { addSampleSwitches } from './samples.js';
import { markScrollable } from './scrolling.js';
import { addMenu } from './side-bar.js';
import { addThemeSwitch } from './theme.js';

addThemeSwitch();
addMenu();
addCopyButtons();
addSampleSwitches();
markScrollable();
leadOn();

const search = () => import('./search-dialog.js');
const openSearch = async () => (await search()).openSearch();
for (const button of all('[data-open-search]')) {
  button.hidden = false;
  button.addEventListener('click', () => void openSearch());
  // Whoever reaches for it will need it.
  button.addEventListener('pointerenter', () => void search(), { once: true });
}
addEventListener('keydown', (event) => {
  const isTyping = (event.target as Element).closest('input, textarea, select') !== null;
  const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
  const isPalette = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
  if (!isSlash && !isPalette) return;
  event.preventDefault();
  void openSearch();
});

for (const button of all('[data-try]')) {
  button.hidden = false;
  button.addEventListener('click', async () => (await import('./try-form.js')).openForm(button));
}
