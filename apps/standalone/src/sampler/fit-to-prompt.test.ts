import type { JsonObject, JsonValue } from '@orrery/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { drawValue } from './draw-value.js';
import { fitToPrompt } from './fit-to-prompt.js';
import { createRandom } from './random.js';
import { readPrompt } from './read-prompt.js';

const closed = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** As the runtime asks for a proposal. */
const asked = closed({
  stateChanges: closed({
    horse: {
      type: 'array',
      items: closed({
        instanceId: { type: 'string' },
        state: closed({
          wins: { type: ['integer', 'null'], minimum: 0 },
          speed: { type: ['number', 'null'] },
          mood: { type: ['string', 'null'], enum: ['calm', 'wild', null] },
          colours: { type: ['string', 'null'], description: 'JSON text' },
          badge: { type: ['string', 'null'] },
        }),
        unset: { type: 'array', items: { type: 'string', enum: ['mood', 'badge'] } },
        delete: { type: 'boolean' },
      }),
    },
  }),
  result: closed({
    headline: { type: 'string' },
    order: { type: ['string', 'null'], description: 'JSON text' },
  }),
});
const contract = {
  event: 'race',
  mayChange: {
    horse: {
      mode: 'partial',
      attributes: [
        { name: 'wins', type: 'integer', min: 0 },
        { name: 'speed', type: 'float' },
        { name: 'mood', type: 'string', enum: ['calm', 'wild'] },
        { name: 'colours', type: 'json' },
        { name: 'badge', type: 'string', pattern: '^B[0-9]$', required: true },
      ],
    },
  },
  mayCreate: true,
  mayDelete: true,
  maxChangedInstances: 2,
  maxDelta: { speed: 0.5 },
  result: {
    type: 'object',
    properties: {
      headline: { type: 'string', minLength: 30, maxLength: 40 },
      order: { $ref: '#/$defs/order' },
    },
    $defs: { order: { type: 'array', items: { enum: ['H1', 'H2'] }, minItems: 2, maxItems: 2 } },
  },
};
const entities = {
  horse: { H1: { wins: 3, speed: 10, badge: 'B1' }, H2: { wins: 0, speed: 12 }, H3: { wins: 1 } },
};

const messagesOf = (facts: { contract: JsonObject; entities: JsonObject }): JsonValue => [
  {
    role: 'system',
    content: `Rules.\nBEGIN DATA contract 0a\n${JSON.stringify(facts.contract)}\nEND DATA contract 0a`,
  },
  {
    role: 'user',
    content: `# E\nBEGIN DATA entities 0b\n${JSON.stringify(facts.entities)}\nEND DATA entities 0b\n`,
  },
  { role: 'user', content: 'BEGIN DATA entities 0c\n{}\nEND DATA entities 0c' },
];

interface Proposal {
  stateChanges: {
    horse: { instanceId: string; state: Record<string, unknown>; unset: []; delete: boolean }[];
  };
  result: { headline: string; order: string };
}

const validate = new Ajv2020({ strict: false }).compile(asked);

function proposals(given: JsonObject = contract, read: JsonObject = entities): Proposal[] {
  const facts = readPrompt(messagesOf({ contract: given, entities: read }));
  if (facts === undefined) throw new Error('the prompt was not read');
  return Array.from({ length: 60 }, (_, seed) => {
    const random = createRandom(`seed ${seed}`);
    const proposal = drawValue(fitToPrompt(asked, facts, random), random);
    expect(validate(proposal), JSON.stringify([proposal, validate.errors])).toBe(true);
    return proposal as unknown as Proposal;
  });
}

const changes = (all: readonly Proposal[]) => all.flatMap(({ stateChanges }) => stateChanges.horse);

describe('a proposal of the sampler', () => {
  it('changes some of the instances that were read, each once, and no more than allowed', () => {
    const all = proposals();
    for (const { stateChanges } of all) {
      const ids = stateChanges.horse.map(({ instanceId }) => instanceId);
      expect(ids.length).toBeGreaterThan(0);
      expect(ids.length).toBeLessThanOrEqual(2);
      expect(new Set(ids).size).toBe(ids.length);
    }
    expect(new Set(changes(all).map(({ instanceId }) => instanceId))).toEqual(new Set(['H1', 'H2', 'H3']));
  });

  it('goes by small steps and within bounds', () => {
    for (const { instanceId, state } of changes(proposals())) {
      const { wins, speed } = entities.horse[instanceId as 'H2'];
      if (state.wins !== null) expect(Math.abs((state.wins as number) - wins)).toBeLessThanOrEqual(1);
      if (state.speed !== null)
        expect(Math.abs((state.speed as number) - (speed ?? 0))).toBeLessThanOrEqual(0.5);
      if (state.badge !== null) expect(state.badge).toMatch(/^B[0-9]$/);
      if (state.colours !== null) expect(JSON.parse(state.colours as string)).toBeTypeOf('object');
      expect(Object.values(state).some((value) => value !== null)).toBe(true);
    }
  });

  it('removes nothing', () => {
    for (const change of changes(proposals())) expect(change).toMatchObject({ unset: [], delete: false });
  });

  it('creates one where none was read and the event may, with what it must have', () => {
    for (const { stateChanges } of proposals(contract, { horse: {} })) {
      expect(stateChanges.horse).toHaveLength(1);
      expect(stateChanges.horse[0]).toMatchObject({ state: { badge: expect.stringMatching(/^B[0-9]$/) } });
    }
    for (const { stateChanges } of proposals({ ...contract, mayCreate: false }, {}))
      expect(stateChanges.horse).toEqual([]);
  });

  it('has the result that the contract describes, also where JSON is asked for as text', () => {
    for (const { result } of proposals()) {
      expect(result.headline.length).toBeGreaterThanOrEqual(30);
      expect(JSON.parse(result.order)).toHaveLength(2);
    }
  });
});

it('takes a prompt of another kind for no prompt, and a schema of another form as it is', () => {
  expect(readPrompt([{ role: 'user', content: 'Who wins?' }])).toBeUndefined();
  expect(
    readPrompt([{ content: 'BEGIN DATA contract 0a\n{\nEND DATA contract 0a' }, 3, { content: [] }]),
  ).toBeUndefined();
  expect(readPrompt('text')).toBeUndefined();
  for (const schema of [
    { type: 'integer' },
    { properties: { stateChanges: { properties: { horse: {} } } } },
    true,
  ]) {
    const random = createRandom('1');
    expect(() => drawValue(fitToPrompt(schema, { contract, entities }, random), random)).not.toThrow();
  }
});
