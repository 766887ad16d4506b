// Runs before the page is seen, so that neither colours nor examples change under the reader's eyes.
import { chosen } from './choices.js';

const { documentElement } = document;
documentElement.classList.add('scripts');
const theme = chosen('theme');
if (theme === 'light' || theme === 'dark') documentElement.dataset['theme'] = theme;
const sample = chosen('sample');
documentElement.dataset['sample'] = sample === 'sdk' || sample === 'cli' ? sample : 'curl';
