import { describe, expect, it } from 'vitest';
import { eventsByTool, splitArguments, toolName, toolOf } from './event-tools.js';

describe('the name of a tool', () => {
  it.each(['run', 'finishRace', 'a_1', 'X'.repeat(64)])('is that of the event: %s', (event) => {
    expect(toolName(event)).toBe(event);
  });

  it.each([
    ['finish race', /^finish_race_[0-9a-f]{8}$/],
    ['Tür auf!', /^T_r_auf_[0-9a-f]{8}$/],
    ['競走', /^event_[0-9a-f]{8}$/],
    ['x'.repeat(65), /^x{48}_[0-9a-f]{8}$/],
    ['a:b/c', /^a_b_c_[0-9a-f]{8}$/],
  ])('is a slug with a hash otherwise: %s', (event, pattern) => {
    expect(toolName(event)).toMatch(pattern);
    expect(toolName(event)).toBe(toolName(event));
    expect(toolName(`${event}!`)).not.toBe(toolName(event));
  });
});

const address = `0x${'5a'.repeat(20)}`;
const event = (name: string, inputSchema: object | null | undefined) =>
  ({ event: name, inputSchema, priceUsd: 0, payerMayCall: false, description: null }) as never;

describe('the arguments of a tool', () => {
  it('are the input beside the members of a signature, all of which are needed', () => {
    const contract = {
      type: 'object',
      properties: { id: { type: 'string' } },
      required: ['id'],
      $defs: { a: {} },
    };
    const tool = toolOf(address, event('run', contract));
    expect(tool.inputSchema).toMatchObject({
      type: 'object',
      required: ['id', 'wallet', 'message', 'signature'],
      $defs: { a: {} },
    });
    expect(JSON.stringify(tool.inputSchema.properties)).toContain(`orrery:${address}:run:`);
    const given = { id: 'A', wallet: 'w', message: 'm', signature: 's' };
    expect(splitArguments(given, tool.signed as never)).toEqual({
      signed: { wallet: 'w', message: 'm', signature: 's' },
      input: { id: 'A' },
    });
  });

  it('keep the input whole where it has members of the same names', () => {
    const properties = { message: {}, signed_wallet: {} };
    const tool = toolOf(address, event('run', { properties }));
    expect(Object.values(tool.signed ?? {})).toEqual([
      'signed_signed_wallet',
      'signed_signed_message',
      'signed_signed_signature',
    ]);
    const given = { message: 'hi', signed_signed_message: 'm' };
    expect(splitArguments(given, tool.signed as never).input).toEqual({ message: 'hi' });
  });

  it('are the input alone where a payment may call', () => {
    const contract = { type: 'object', properties: { wallet: { type: 'string' } } };
    const paid = { event: 'run', inputSchema: contract, payerMayCall: true, priceUsd: 1 } as never;
    const tool = toolOf(address, paid);
    expect(tool.inputSchema).toEqual(contract);
    expect(splitArguments({ wallet: 'w' }, tool.signed)).toEqual({ signed: {}, input: { wallet: 'w' } });
  });

  it('are anything where the event has no contract; a contract that was left out makes no tool', () => {
    const tools = eventsByTool([event('a', null), event('b', undefined)]);
    expect([...tools.keys()]).toEqual(['a']);
  });
});
