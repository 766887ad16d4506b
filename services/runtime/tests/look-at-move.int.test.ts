import { expect, it } from 'vitest';
import { cleanMoved, lookAtMove, type MoveStep, movePartition } from '../src/operator.js';
import { prepareTwo } from './moving.js';
import type { plantDeployment } from './running-runtime.js';

const { planted, moving } = await prepareTwo();
const [one] = planted as [Awaited<ReturnType<typeof plantDeployment>>];
const look = () => lookAtMove(moving(one));

const STEPS = [
  'noted',
  'published',
  'subscribed',
  'in_step',
  'fenced',
  'flushed',
  'arrived',
  'switched',
] as const;

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
