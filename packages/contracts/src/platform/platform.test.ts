import { expect, it } from 'vitest';
import * as browser from './browser.js';
import * as node from './node.js';

it.each(['', 'abc', 'Zoë 😀 \u2028', '\ud800', 'x'.repeat(100_000)])(
  'hashes and measures alike in Node and in browsers (%#)',
  (text) => {
    expect(browser.sha256Hex(text)).toBe(node.sha256Hex(text));
    expect(browser.utf8Bytes(text)).toBe(node.utf8Bytes(text));
  },
);
