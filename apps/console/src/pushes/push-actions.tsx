import { useMutation, useQueryClient } from '@tanstack/react-query';
import { deploymentPath } from '../api/deployment-path.js';
import { type Push, pushesKey } from '../api/pushes.js';
import { useDeploymentRef } from '../deployments/use-deployment-ref.js';
import { useOrrery } from '../session/use-session.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { ErrorNote } from '../ui/error-note.js';

/** What a push that has failed can be followed by. */
export function PushActions({ push: { historyId, chain, seq } }: { push: Push }) {
  const orrery = useOrrery();
  const ref = useDeploymentRef();
  const cache = useQueryClient();
  const path = { ...deploymentPath(ref), historyId, chain };
  const base = '/api/worlds/{worldAddress}/deployments/{address}/history/{historyId}/pushes/{chain}';
  const onSettled = () => cache.invalidateQueries({ queryKey: pushesKey(ref) });
  const retry = useMutation({ mutationFn: () => orrery.post(`${base}/retry`, { path }), onSettled });
  const skip = useMutation({ mutationFn: () => orrery.post(`${base}/skip`, { path }), onSettled });
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        size="small"
        pending={retry.isPending}
        aria-label={`Retry the push of entry ${seq} to ${chain}`}
        onClick={() => retry.mutate()}
      >
        Retry
      </Button>
      <Confirm
        verb="Skip"
        size="small"
        look="secondary"
        title="Skip this push?"
        onConfirm={() => skip.mutateAsync()}
      >
        Only the digest of entry {seq} goes to {chain}, under the push's number. The later pushes go on. This
        cannot be taken back.
      </Confirm>
      <ErrorNote error={retry.error} title="It was not tried again" />
    </div>
  );
}
