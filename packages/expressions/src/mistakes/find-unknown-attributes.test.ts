import { expect, it } from 'vitest';
import { COMPARISONS } from '../messages/comparisons.js';
import { type AttributeText, findUnknownAttributes } from './find-unknown-attributes.js';

const attributes = ['price', 'owner', 'né'];

function told(kind: AttributeText['kind'], text: string, known: readonly string[] = attributes): string[] {
  const schema = { schema: 'lot', attributes: known };
  return findUnknownAttributes([{ pointer: '/x', text, kind }], schema, { left: COMPARISONS }).map(
    ({ message }) => message.replace('The entity schema "lot" has no attribute ', ''),
  );
}

it('finds what a condition likely misspells, once', () => {
  expect(told('condition', 'instance.prise > 3 && instance["pricee"] < 9 || has(instance.prise)')).toEqual([
    '"prise". Did you mean "price"?',
    '"pricee". Did you mean "price"?',
  ]);
});

it('takes what a condition may say of attributes that no schema names, of the input and of the id', () => {
  const text = 'instance.colour == "red" && input.prise > 1 && id != "prise" && instance.price > 0';
  expect(told('condition', text)).toEqual([]);
  expect(told('condition', 'instance.owner.pricee == 1 && instance[id] == 2')).toEqual([]);
});

it('finds every name of a list that the schema does not have, by its first key', () => {
  expect(told('list', 'pricee desc, "best time", owner.pricee, id, ne\u0301')).toEqual([
    '"pricee". Did you mean "price"?',
    '"best time".',
  ]);
});

it('says nothing of a schema that names no attributes, nor of what does not parse', () => {
  expect(told('list', 'pricee', [])).toEqual([]);
  expect(told('list', 'pricee down')).toEqual([]);
  expect(told('condition', 'instance.prise >')).toEqual([]);
});

it('compares no more names than it may, and goes on to tell those of lists', () => {
  const compared = { left: attributes.length };
  const texts = ['condition', 'list', 'condition'] as const;
  const found = findUnknownAttributes(
    texts.map((kind, at) => ({
      pointer: `/${at}`,
      text: kind === 'list' ? 'prise' : 'instance.prise',
      kind,
    })),
    { schema: 'lot', attributes },
    compared,
  );
  expect(found.map(({ pointer, message }) => `${pointer} ${message}`)).toEqual([
    '/0 The entity schema "lot" has no attribute "prise". Did you mean "price"?',
    '/1 The entity schema "lot" has no attribute "prise".',
  ]);
});
