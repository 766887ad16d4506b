import { describe, expect, it } from 'vitest';
import { EXTRAS } from './extras.js';
import { operationNamed } from './perform-operation.js';
import { type Brief, showAnswer } from './show-answer.js';

function shown(name: string, data: unknown, json: boolean, brief?: (all: unknown) => Brief) {
  const [out, notes]: [string[], string[]] = [[], []];
  const write = (line: string) => void out.push(line);
  const note = (line: string) => void notes.push(line);
  showAnswer(operationNamed(name), { data }, { json, brief, write, note });
  return { out: out.join('\n'), notes };
}

const dryRun = {
  dryRun: true,
  event: 'race',
  stateChanges: { 'horse:A': { wins: 1 } },
  prompt: { messages: [{ role: 'system', content: 'long\n'.repeat(200) }] },
  llm: {
    model: 'm',
    attempts: [{}, {}],
    usage: { inputTokens: 7 },
    latencyMs: 5,
    request: 'long',
    response: '{}',
  },
};

describe('a dry run that a model decided', () => {
  const { brief } = EXTRAS['deployments.execute'] ?? {};

  it('is shown to people in a few lines, which say what is left out', () => {
    const { out, notes } = shown('deployments.execute', dryRun, false, brief);
    expect(out.split('\n').length).toBeLessThan(15);
    expect(out).toMatch(/wins: 1[\s\S]*model: m\n {2}attempts: 2\n/);
    expect(notes).toEqual([expect.stringMatching(/left out, \d+ characters: --full shows them\.$/)]);
  });

  it('is whole for programs, and where all is asked for', () => {
    expect(JSON.parse(shown('deployments.execute', dryRun, true, brief).out)).toEqual(dryRun);
    expect(shown('deployments.execute', dryRun, false).out).toContain('role: system');
  });

  it('of a template is left as it is', () => {
    const { prompt: _, llm: __, ...rest } = dryRun;
    const { out, notes } = shown('deployments.execute', { ...rest, prompt: null, llm: null }, false, brief);
    expect([out.includes('prompt: null'), notes]).toEqual([true, []]);
  });
});

describe('the history', () => {
  const { hint } = EXTRAS['history.list'] ?? {};

  it('says that it shows executions alone, unless they were chosen', () => {
    expect(hint?.({ limit: '5' })).toMatch(/^Executions alone: --include all lists the rest/);
    expect(hint?.({ include: 'all' })).toBeUndefined();
    expect(hint?.({ event: 'race' })).toBeUndefined();
  });
});

it('payments are a table that a screen holds', () => {
  const payment = {
    paymentKey: 'k'.repeat(150),
    event: 'ring',
    amount: '50000',
    decimals: 6,
    network: 'base-sepolia',
    asset: `0x${'a'.repeat(40)}`,
    payTo: `0x${'b'.repeat(40)}`,
    payer: `0x${'c'.repeat(40)}`,
    wallet: 'w'.repeat(44),
    inputHash: 'h'.repeat(64),
    seq: 17,
    status: 'settled',
    transaction: `0x${'d'.repeat(64)}`,
    reason: null,
    createdAt: '2026-11-24T09:30:00.000Z',
    updatedAt: '2026-11-24T09:30:00.000Z',
  };
  const { out } = shown('payments.list', [payment], false);
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThan(180);
  expect(JSON.parse(shown('payments.list', [payment], true).out)).toEqual([payment]);
});
