import { httpOperations } from '@orrery/contracts';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../program.js';
import { toKebab } from '../terminal/options.js';
import { COLUMNS } from './columns.js';
import { membersOf } from './member.js';
import { formOf } from './operation-form.js';
import { GROUP_ALIASES, GROUP_DESCRIPTIONS, isOffered, wordsOf } from './operations-commands.js';

const silent = { write: () => undefined, note: () => undefined, confirm: async () => false };
const program = createProgram({ env: {}, ...silent });

function commandAt(words: readonly string[]): Command | undefined {
  return words.reduce<Command | undefined>(
    (parent, word) => parent?.commands.find((one) => one.name() === word || one.aliases().includes(word)),
    program,
  );
}

const allCommands = (command: Command): Command[] => [command, ...command.commands.flatMap(allCommands)];
const operationNamed = (name: string) => {
  const found = httpOperations.find((rpc) => rpc.name === name);
  if (found === undefined) throw new Error(name);
  return found;
};

describe('the commands of operations', () => {
  const offered = httpOperations.filter(isOffered);

  it('are there for every operation, each under words of its own', () => {
    const commands = offered.map((rpc) => wordsOf(rpc).join(' '));
    expect(commands.filter((words) => commandAt(words.split(' ')) === undefined)).toEqual([]);
    expect(new Set(commands).size).toBe(commands.length);
    expect(commands.length).toBeGreaterThan(60);
  });

  it('are found by the words of the API, too', () => {
    for (const words of ['schemas create', 'entity-schemas create', 'execute', 'schedules occurrences', 'me'])
      expect(commandAt(words.split(' '))?.description(), words).not.toBe('');
  });

  it('take no option twice', () => {
    for (const command of allCommands(program)) {
      const names = command.options.flatMap(({ long, short }) => [long ?? '', ...(short ? [short] : [])]);
      expect(new Set(names).size, command.name()).toBe(names.length);
    }
  });

  it('have groups that say what they are about', () => {
    for (const { commands } of [program])
      for (const command of commands) expect(command.description(), command.name()).not.toBe('');
    const groups = new Set(program.commands.map((command) => command.name()));
    for (const name of [...Object.keys(GROUP_DESCRIPTIONS), ...Object.keys(GROUP_ALIASES)])
      expect(groups).toContain(name);
  });

  it('show columns that records have', () => {
    for (const [name, columns] of Object.entries(COLUMNS)) {
      const { reply } = operationNamed(name);
      const { data } = (reply as unknown as { shape: { data: Parameters<typeof membersOf>[0] } }).shape;
      const known = membersOf(data).map((member) => member.name);
      expect(known, name).toEqual(expect.arrayContaining(columns.map((column) => column.split('.')[0])));
    }
  });
});

describe('a list', () => {
  it('has columns that were chosen, whatever its records hold', () => {
    const lists = httpOperations.filter(isOffered).filter(({ reply }) => {
      const { data } = (reply as unknown as { shape: { data: { type: string } } }).shape;
      return data.type === 'array';
    });
    expect(lists.map(({ name }) => name).filter((name) => COLUMNS[name] === undefined)).toEqual([]);
  });
});

describe('the form of an operation', () => {
  it('names a deployment by one argument', () => {
    const { targets } = formOf(operationNamed('pushes.retry'));
    expect(targets.map(({ name, kind }) => [name, kind])).toEqual([
      ['deployment', 'deployment'],
      ['historyId', 'other'],
      ['chain', 'other'],
    ]);
  });

  it('makes arguments of texts that are always needed, and pairs of an open object', () => {
    const form = formOf(operationNamed('instances.create'));
    expect(form.named.map(({ name }) => name)).toEqual(['entitySchema', 'instanceId']);
    expect(form.open?.name).toBe('state');
    expect(formOf(operationNamed('versions.create')).open).toBeUndefined();
  });

  it('knows how texts become values', () => {
    const kinds = (name: string) =>
      Object.fromEntries(formOf(operationNamed(name)).body.map((member) => [member.name, member.kind]));
    expect(kinds('deployments.create')).toMatchObject({
      name: 'text',
      aiDailyBudgetUsd: 'number',
      isLLMPublic: 'flag',
      bindings: 'json',
      sourceSeq: 'number',
      payToAddress: 'text',
    });
    expect(kinds('attributes.create')).toMatchObject({ constraints: 'json', defaultValue: 'value' });
    expect(kinds('worlds.create')).toMatchObject({ domainTags: 'list' });
    expect(formOf(operationNamed('deployments.execute')).query.map(({ kind }) => kind)).toEqual([
      'flag',
      'number',
      'text',
    ]);
    expect(formOf(operationNamed('bindings.remove')).targets.at(-1)).toMatchObject({ kind: 'query' });
  });

  it('spells options as command lines do', () => {
    expect(['isLLMPublic', 'aiModelId', 'idempotency-key', 'dryRun'].map(toKebab)).toEqual([
      'is-llm-public',
      'ai-model-id',
      'idempotency-key',
      'dry-run',
    ]);
  });
});
