import { describe, expect, it } from 'vitest';
import { Progress } from './read.js';

type Saved = { position: number; floor: number; sent_back: string };

function tracked(position = 0) {
  const saved: Saved[] = [];
  const progress = new Progress({ position, sent_back: [] }, async (changes) => {
    saved.push(changes);
  });
  const last = () => {
    const { sent_back: sentBack, ...numbers } = saved.at(-1) ?? { position: -1, floor: -1, sent_back: '[]' };
    return { ...numbers, sentBack: JSON.parse(sentBack) as unknown };
  };
  return { progress, saved, last };
}

describe('progress', () => {
  it('stands below the first message that is still in work', async () => {
    const { progress, last } = tracked(10);
    for (const seq of [11, 12, 15]) progress.begin(seq);
    progress.done(12);
    await progress.save();
    expect(last()).toEqual({ position: 10, floor: 11, sentBack: [] });
    progress.done(11);
    progress.done(15);
    await progress.save();
    expect(last()).toEqual({ position: 15, floor: 16, sentBack: [] });
  });

  it('passes what was sent back, but keeps it until it is done, with its number of tries', async () => {
    const { progress, last } = tracked();
    progress.begin(1);
    progress.begin(2);
    progress.sendBack(1, { attempt: 2, dueAt: 500 });
    progress.done(2);
    await progress.save();
    expect(last()).toEqual({ position: 2, floor: 1, sentBack: [{ seq: 1, attempt: 2, dueAt: 500 }] });
    expect(progress.due(499)).toEqual([]);
    expect(progress.due(500)).toEqual([1]);
    expect(progress.begin(1)).toEqual({ tries: 2 });
    expect(progress.due(500)).toEqual([]);
    expect(progress.cursor).toBe(2);
    progress.done(1);
    await progress.save();
    expect(last()).toEqual({ position: 2, floor: 3, sentBack: [] });
  });

  it('writes only what has changed, and again what could not be written', async () => {
    let fails = true;
    let writes = 0;
    const progress = new Progress({ position: 0, sent_back: [] }, async () => {
      writes += 1;
      if (fails) throw new Error('away');
    });
    await progress.save();
    expect(writes).toBe(0);
    progress.begin(1);
    progress.done(1);
    await expect(progress.save()).rejects.toThrow('away');
    fails = false;
    await progress.save();
    await progress.save();
    expect(writes).toBe(2);
  });
});
