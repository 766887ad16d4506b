import { describe, expect, it, vi } from 'vitest';
import { abortSignalOf, Canceller } from './call-context.js';

describe('Canceller', () => {
  it('tells each listener once, and none that has left', () => {
    const canceller = new Canceller();
    const [stays, leaves] = [vi.fn(), vi.fn()];
    canceller.addEventListener('abort', stays);
    canceller.addEventListener('abort', leaves);
    canceller.removeEventListener('abort', leaves);
    canceller.abort('first');
    canceller.abort('second');
    expect(stays).toHaveBeenCalledTimes(1);
    expect(leaves).not.toHaveBeenCalled();
    expect(canceller).toMatchObject({ aborted: true, reason: 'first' });
    expect(() => canceller.throwIfAborted()).toThrow('first');
  });

  it('has the same AbortSignal whenever it is asked, also afterwards', () => {
    const [before, after] = [new Canceller(), new Canceller()];
    const { signal } = before;
    before.abort('gone');
    after.abort('gone');
    expect(signal).toBe(before.signal);
    for (const one of [signal, after.signal]) expect(one).toMatchObject({ aborted: true, reason: 'gone' });
  });
});

describe('abortSignalOf', () => {
  it('leaves an AbortSignal as it is', () => {
    const { signal } = new AbortController();
    expect(abortSignalOf(signal)).toBe(signal);
  });

  it('follows a cancellation of any other make', () => {
    const canceller = new Canceller();
    const other = {
      aborted: false,
      reason: 'over',
      throwIfAborted: () => undefined,
      addEventListener: (_type: 'abort', listener: () => void) => canceller.addEventListener(_type, listener),
      removeEventListener: () => undefined,
    };
    const signal = abortSignalOf(other);
    expect(signal.aborted).toBe(false);
    canceller.abort('over');
    expect(signal).toMatchObject({ aborted: true, reason: 'over' });
  });
});
