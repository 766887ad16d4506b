import { expect, it } from 'vitest';
import { cleanMoved, lookAtMove, type MoveStep, movePartition } from '../src/operator.js';
import { type Planted, prepareTwo, STEPS } from './moving.js';

const { planted, moving } = await prepareTwo();
const [one] = planted as [Planted];
const look = () => lookAtMove(moving(one));

it('tells the last step of a move whose command was killed, whatever step that was', async () => {
  expect(await look()).toMatchObject({ step: undefined, isAtTarget: false });
  for (const last of STEPS) {
    const onStep = (step: MoveStep) => {
      if (step === last) throw new Error(`stopped at ${step}`);
    };
    await expect(movePartition(moving(one, { onStep }))).rejects.toThrow(last);
    // The servers go on copying by themselves.
    const possible: MoveStep[] = last === 'subscribed' ? ['subscribed', 'in_step'] : [last];
    const { step, isAtTarget, isUndone } = await look();
    expect(possible).toContain(step);
    expect([isAtTarget, isUndone]).toEqual([last === 'switched', false]);
  }
  await movePartition(moving(one));
  expect(await look()).toMatchObject({ step: 'ended', isAtTarget: true });
  await cleanMoved(moving(one));
  expect(await look()).toMatchObject({ step: undefined, isAtTarget: true });
});
