import { useNavigate } from '@tanstack/react-router';
import type { World } from '../api/records.js';
import { useChange, useRemoval } from '../api/use-change.js';
import { worldKey } from '../api/worlds.js';
import { Confirm } from '../ui/dialog.js';
import { EditWorld } from './world-form.js';

export function WorldActions({ world, page }: { world: World; page: string }) {
  const { address, name, isPublic } = world;
  const path = { idOrAddress: address };
  // The key of what was read may have the id instead of the address.
  const keys = [['worlds'], worldKey(page)];
  const publish = useChange((orrery) => orrery.post('/api/worlds/{idOrAddress}/publish', { path }), keys);
  const unpublish = useChange((orrery) => orrery.post('/api/worlds/{idOrAddress}/unpublish', { path }), keys);
  const navigate = useNavigate();
  const remove = useRemoval(
    (orrery) => orrery.delete('/api/worlds/{idOrAddress}', { path }),
    () => navigate({ to: '/' }),
    [['worlds']],
  );
  return (
    <>
      <EditWorld world={world} keys={keys} />
      {isPublic ? (
        <Confirm
          verb="Unpublish"
          look="secondary"
          title="Unpublish the world?"
          onConfirm={() => unpublish.mutateAsync()}
        >
          Other accounts can no longer read its definitions. Its deployments go on as they are.
        </Confirm>
      ) : (
        <Confirm
          verb="Publish"
          look="secondary"
          title="Publish the world?"
          onConfirm={() => publish.mutateAsync()}
        >
          Every account of this server can then read its schemas and events, but no prompts and templates.
        </Confirm>
      )}
      <Confirm verb="Delete" title={`Delete ${name}?`} onConfirm={remove}>
        Its schemas and events go with it. This cannot be undone. A world with deployments is not deleted.
      </Confirm>
    </>
  );
}
