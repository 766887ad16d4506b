import type { Divergence } from '@orrery/sdk';

interface Fault {
  /** What contradicts what, of the entry that is named. */
  readonly what: string;
  /** What happened, and what to do. */
  readonly advice: string;
}

const CHANGED =
  'Somebody changed the database. Nothing from this entry on is proven: compare with a backup, or with what others kept.';
const OTHER_RULES =
  'It was decided by other rules than these, or written by hand. `orrery history get` shows the entry: compare it with what its definition says.';

/** What each contradiction means: the words are those of docs/history.md. */
export const FAULTS: Readonly<Record<Divergence['what'], Fault>> = {
  missing_entry: {
    what: 'an entry is missing',
    advice: `Entries were taken out, or the end of the journal is gone. ${CHANGED}`,
  },
  broken_link: { what: 'it does not carry the hash of the entry before it', advice: CHANGED },
  wrong_hash: { what: 'it has another hash than its content gives', advice: CHANGED },
  impossible_change: {
    what: 'it changes an instance in a way that cannot follow the state before it',
    advice: CHANGED,
  },
  snapshot_differs: {
    what: 'the deployment began with other instances than its source had',
    advice: 'The source was rewritten, or what was copied of it. Verify the source, and clone it again.',
  },
  instance_differs: {
    what: 'an instance has a state that no entry gave it',
    advice:
      'Somebody changed the instance beside the history. Its last entries say what it has to be: write that with `orrery instances update`.',
  },
  decision_differs: { what: 'its definition, decided again, gives something else', advice: OTHER_RULES },
  definition_differs: {
    what: 'the definition that is kept for it is not the one that its hash names',
    advice:
      'Somebody changed the kept definition. The entry itself may be right: take the definition from a backup.',
  },
  checkpoint_differs: {
    what: 'the entries are not those of the checkpoint that was kept',
    advice:
      'The history was rewritten after that checkpoint was signed. Keep the file, and what `orrery history head` answers now: together they show that one operator signed two pasts.',
  },
  head_differs: {
    what: 'the entries are not those that the operator signs',
    advice:
      'The server shows you other entries than it signs for all. Verify again; if it stays so, keep what `orrery history head` and `orrery history list --include all --all --json` answer.',
  },
  tail_lost: {
    what: 'the database lost entries that the checkpoint covers',
    advice:
      'It came back without its last commits, and an entry `tail_lost` says so. Ask the operator what is gone, and what was done with it. `--save` without `--checkpoint` keeps a checkpoint of what goes on.',
  },
  draws_differ: {
    what: 'its random numbers are not made of the secret or the round that it names',
    advice: 'Somebody chose the numbers. The entry cannot be trusted, nor what follows from it.',
  },
  exchange_differs: {
    what: 'the exchange with its model is not the one that its hash names',
    advice:
      'Somebody changed the texts of the model, which are kept beside the entry. What the execution has done still stands in the entry: take the texts from a backup.',
  },
};
