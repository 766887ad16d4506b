import type { MoveNews, MoveProgress, MoveStep } from '@orrery/runtime/operator';

/** What an operator reads of a step, whether the command carries the move out or watches it. */
export const STEP_TEXTS: Readonly<Record<Exclude<MoveStep, 'switched' | 'ended'>, string>> = {
  noted: 'noted in the directory; waits until those who write at the source now have committed',
  published: 'its rows are published',
  subscribed: 'rows are copied while its deployments are executed',
  in_step: 'the copy follows every commit',
  fenced: 'without owner',
  flushed: 'the target has every commit',
  arrived: 'its deployments are at the target',
};

/** How far a copy is that has been under way for so long. */
export const progressText = (progress: MoveProgress, forMs: number): string =>
  (progress.isCopied ? 'the target lacks what was committed last' : copyOf(progress, forMs)) +
  troubleOf(progress);

function copyOf({ tables, inStep, entries, ofEntries }: MoveProgress, forMs: number): string {
  const left = entries > 0 ? (forMs * (ofEntries - entries)) / entries : undefined;
  const estimate = left === undefined ? '' : `, about ${Math.ceil(Math.max(0, left) / 1000)} s left`;
  return `${inStep} of ${tables} tables, ${entries} of ${ofEntries} entries${estimate}`;
}

/** The server's worker ends at an error and begins anew, seconds later: until then nothing is copied. */
function troubleOf({ errors, isFollowed }: MoveProgress): string {
  const [met, idle] = [errors > 0 ? `${errors} errors` : '', isFollowed ? '' : 'nobody copies now'];
  const trouble = [met, idle].filter((text) => text !== '').join(', ');
  return trouble === '' ? '' : `; ${trouble}: the log of the target's server says why`;
}

/** What a command does, or waits for, between two steps. */
export function newsText(news: MoveNews): string {
  switch (news.kind) {
    case 'held':
      return `waits for ${news.by}, which holds tables that it needs for a moment; executions go on`;
    case 'slot_in_use':
      return "waits until the source's server has let go of the replication slot";
    case 'again':
      return `a database did not answer in time (${news.reason}): tries again`;
    case 'keys_carried':
      return `${news.keys} answers of keyed requests are carried`;
    case 'rows_deleted':
      return `${news.rows} rows deleted so far`;
  }
}
