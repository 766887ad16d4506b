import { useState } from 'react';
import { useChange } from '../api/change.js';
import { deploymentPath, useDeploymentRef, WEBHOOKS } from '../api/deployments.js';
import { keyOf } from '../api/read.js';
import { Button } from '../ui/button.js';
import { Actions } from '../ui/dialog.js';
import { CheckField, Form } from '../ui/field.js';
import { ErrorNote } from '../ui/messages.js';
import type { NewWebhookProps } from './new-webhook.js';

/** Replaces the secret of a webhook: beside the old one for a day, or at once. */
export function NewSecret({ webhookId, onSecret, onClose }: NewWebhookProps & { webhookId: string }) {
  const path = { ...deploymentPath(useDeploymentRef()), webhookId };
  const [isAtOnce, setAtOnce] = useState(false);
  const replace = useChange(
    (orrery, graceSeconds: 0 | undefined) =>
      orrery.post(`${WEBHOOKS}/{webhookId}/rotate-secret`, {
        path,
        ...(graceSeconds !== undefined && { query: { graceSeconds } }),
      }),
    [keyOf(WEBHOOKS, path)],
    ({ secret }) => {
      onClose();
      onSecret(secret);
    },
  );
  return (
    <Form onSubmit={() => replace.mutate(isAtOnce ? 0 : undefined)}>
      <p>
        Deliveries are signed with the old secret too for a day. Until then it is replaced again only at once.
      </p>
      <CheckField
        className="mt-3"
        label="At once"
        hint="Receivers that have an older secret refuse deliveries until they are changed."
        checked={isAtOnce}
        onChange={setAtOnce}
      />
      <ErrorNote error={replace.error} />
      <Actions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" pending={replace.isPending}>
          Replace
        </Button>
      </Actions>
    </Form>
  );
}
