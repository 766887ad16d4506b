import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { canonicalJson, sha256, snapshotHash } from './hash-chain.js';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/history.md'), 'utf8');
const [, example = ''] = /### Worked example\n(.*?)\n###? /s.exec(page) ?? [];
const texts = [...example.matchAll(/```text\n(.*)\n```/g)].map(([, text = '']) => text);
const hashes = [...example.matchAll(/```\n([0-9a-f]{64})\n```/g)].map(([, hash]) => hash);

it('has the texts and hashes of the worked example', async () => {
  expect(texts).toHaveLength(4);
  expect(texts.map((text) => canonicalJson(JSON.parse(text)))).toEqual(texts);
  expect(await Promise.all(texts.map(sha256))).toEqual(hashes);
});

it('sorts members by UTF-16 code units and writes numbers as ECMAScript does', () => {
  // RFC 8785 §3.2.3 and §3.2.2.3
  const sorted = { '€': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7 };
  const text = '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}';
  expect(canonicalJson(sorted)).toBe(text);
  expect(canonicalJson([333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0])).toBe(
    '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]',
  );
});

it("sorts a clone's instances by UTF-8 bytes", async () => {
  const states = new Map([
    ['b:\uffff', { state: { n: 2 }, revision: 1 }],
    ['b:😀', { state: { n: 3 }, revision: 7 }],
    ['a:z:z', { state: { n: 1 }, revision: 1 }],
  ]);
  const lines = [
    '{"entitySchema":"a","instanceId":"z:z","state":{"n":1}}\n',
    '{"entitySchema":"b","instanceId":"\uffff","state":{"n":2}}\n',
    '{"entitySchema":"b","instanceId":"😀","state":{"n":3}}\n',
  ];
  expect(await snapshotHash(states)).toBe(await sha256(lines.join('')));
});
