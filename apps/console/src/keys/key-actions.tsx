import type { Key } from '../api/records.js';
import { useChange } from '../api/use-change.js';
import { useSession } from '../session/use-session.js';
import { Confirm } from '../ui/confirm.js';

export interface KeyActionsProps {
  record: Key;
  /** It is the key of this session, which goes on with the new one, or ends. */
  isOwn: boolean;
  /** It made other keys, which end with it. */
  hasMade: boolean;
  /** Shows the token of the key that took its place. */
  onToken: (token: string) => void;
}

export function KeyActions({ record: { id, name }, isOwn, hasMade, onToken }: KeyActionsProps) {
  const session = useSession();
  const keys = [['keys'], ['me']];
  const rotate = useChange(async (orrery) => {
    const created = await orrery.post('/api/keys/{id}/rotate', { path: { id } });
    // Its token is shown, so that it may be used elsewhere too.
    if (isOwn) session.start(created.token, 'given');
    return created.token;
  }, keys);
  const revoke = useChange(async (orrery) => {
    await orrery.delete('/api/keys/{id}', { path: { id } });
    if (isOwn) session.end('You revoked the key of this session.');
  }, keys);
  return (
    <span className="flex flex-wrap justify-end gap-1">
      <Confirm
        verb="Replace"
        size="small"
        look="secondary"
        title={`Replace ${name}?`}
        onConfirm={async () => onToken(await rotate.mutateAsync(undefined))}
      >
        A new key with the same name and scopes takes its place. The old one ends at once.
      </Confirm>
      <Confirm
        verb="Revoke"
        size="small"
        title={`Revoke ${name}?`}
        onConfirm={() => revoke.mutateAsync(undefined)}
      >
        {isOwn
          ? 'You are signed in with this key: the session ends with it.'
          : 'Whatever uses it is refused within a second.'}
        {hasMade && ' The keys that it made end with it.'}
      </Confirm>
    </span>
  );
}
