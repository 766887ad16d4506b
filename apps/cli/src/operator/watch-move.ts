import { lookAtMove, type MoveOptions, type MoveView } from '@orrery/runtime/operator';
import { StartupError } from '@orrery/service-kit';
import type { CommandContext } from '../terminal/context.js';
import { progressText, STEP_TEXTS } from './move-texts.js';

interface Watching
  extends Pick<MoveOptions, 'source' | 'target' | 'directory' | 'partition' | 'clock'>,
    Pick<CommandContext, 'write'> {
  /** The command that carries this move out. */
  readonly command: string;
}

const LOOK_MS = 1000;
/** Looks, one after the other, that find nobody at work before it is said so: a command may be between two connections. */
const ALONE = 3;

/**
 * Tells how far a move is that another command carries out, until it has ended or is undone. It changes nothing.
 * @throws StartupError where there is no move, or nobody carries it on
 */
export async function watchMove({ command, write, clock, ...between }: Watching): Promise<void> {
  const { partition } = between;
  let [told, alone] = ['', 0];
  for (;;) {
    const view = await lookAtMove(between);
    const end = endOf(view, told !== '');
    if (end !== undefined) return write(`partition ${partition}: ${end}`);
    if (view.step === undefined)
      throw new StartupError(`The partition ${partition} is not on its way between these databases.`);
    const text = textOf(view);
    if (text !== told) write(`partition ${partition}: ${text}`);
    told = text;
    alone = view.isCarriedOn ? 0 : alone + 1;
    if (alone === ALONE)
      throw new StartupError(`Nobody carries the move of ${partition} on: ${whatToRun(view, command)}`);
    await clock.sleep(LOOK_MS);
  }
}

function endOf({ step, isAtTarget }: MoveView, wasUnderWay: boolean): string | undefined {
  if (isAtTarget && (step === undefined || step === 'ended')) return 'moved';
  return step === undefined && wasUnderWay ? 'as before' : undefined;
}

function textOf({ step, isUndone, progress, forMs }: MoveView): string {
  if (isUndone) return 'is being undone';
  if (progress !== undefined) return progressText(progress, forMs);
  if (step === 'switched' || step === 'ended')
    return 'it lives there; what was needed for the move is taken down';
  return STEP_TEXTS[step ?? 'noted'];
}

function whatToRun({ step, isUndone }: MoveView, command: string): string {
  if (isUndone) return `run \`${command} --abort\` again.`;
  if (step === 'switched') return `run \`${command}\` again, which ends it.`;
  return `run \`${command}\` again, or undo it with \`${command} --abort\`.`;
}
