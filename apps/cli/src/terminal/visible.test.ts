import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readYaml, writeYaml } from '../documents/yaml-text.js';
import { formatRows } from './format-rows.js';
import { visible } from './visible.js';

const CONTROL = /(?!\n)\p{Cc}/u;
/** Clears the screen, sets the title, and colours, the latter by a character of C1. */
const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\u009b31mhi\u007f\r';

describe('a text that is shown', () => {
  it('holds nothing that a terminal obeys', () => {
    expect(visible(HOSTILE)).toBe('\\u001b[2J\\u001b]0;owned\\u0007\\u009b31mhi\\u007f\\u000d');
    expect(visible('é …\n\tplain')).toBe('é …\n\tplain');
  });

  it('stays the same JSON and the same YAML', () => {
    const text = fc.array(fc.constantFrom(...HOSTILE, '\n', '\t', ' ', '\\', '"', 'long words '), {
      maxLength: 60,
    });
    const json = fc.dictionary(
      text.map((parts) => parts.join('')),
      text.map((parts) => parts.join('')),
      { maxKeys: 3, noNullPrototype: true },
    );
    fc.assert(
      fc.property(json, (value) => {
        const [asJson, asYaml] = [JSON.stringify(value, null, 2), writeYaml(value)].map(visible);
        expect(JSON.parse(asJson ?? '')).toEqual(value);
        expect(readYaml(asYaml ?? '', 'shown').value).toEqual(value);
        expect(`${asJson}${asYaml?.replaceAll('\t', '')}`).not.toMatch(CONTROL);
      }),
    );
  });

  it('is as wide in a table as it is shown, and one line', () => {
    const rows = [{ who: 'a\nEntry 5: \u009b31mfine', wins: 1 }];
    expect(formatRows(rows, ['who', 'wins'])).toBe(
      'who                       wins\na Entry 5: \\u009b31mfine  1',
    );
  });
});
