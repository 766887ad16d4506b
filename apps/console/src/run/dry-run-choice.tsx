import { useQuery } from '@tanstack/react-query';
import { modelsQuery } from '../api/ai.js';
import type { EventBinding } from '../api/bindings.js';
import { versionsQuery } from '../api/events.js';
import { useDeploymentRef } from '../deployments/use-deployment-ref.js';
import { useOrrery } from '../session/use-session.js';
import { ErrorNote } from '../ui/error-note.js';
import { SelectField } from '../ui/field.js';

export interface VersionChoiceProps {
  binding: EventBinding;
  /** The version whose form is shown. */
  value: number;
  onChange: (version: number) => void;
}

/** The version that is run: the bound one, or for dry runs any other. */
export function VersionChoice({ binding: { event, eventVersion }, value, onChange }: VersionChoiceProps) {
  const { data, error } = useQuery(versionsQuery(useOrrery(), useDeploymentRef().world, event));
  const numbers = new Set([eventVersion, value, ...(data?.data ?? []).map(({ version }) => version)]);
  const words = (version: number) =>
    version === eventVersion ? `version ${version}, which is bound` : `version ${version}, dry run only`;
  return (
    <div>
      <SelectField
        label="Version"
        value={String(value)}
        onChange={(next) => onChange(Number(next))}
        options={[...numbers].sort((a, b) => b - a).map((version) => [String(version), words(version)])}
      />
      <ErrorNote error={error} title="The versions could not be read" />
    </div>
  );
}

export interface ModelChoiceProps {
  /** Empty: the deployment's own. */
  value: string;
  onChange: (model: string) => void;
}

/** The model that a dry run asks. */
export function ModelChoice({ value, onChange }: ModelChoiceProps) {
  const { data, error } = useQuery(modelsQuery(useOrrery()));
  const models = data?.data ?? [];
  return (
    <div className="mt-4">
      <SelectField
        label="Model of dry runs"
        hint="An execution asks the model of the deployment."
        value={value}
        onChange={onChange}
        options={[
          ['', "the deployment's"],
          ...models.map(({ modelId, modelDisplayName }) => [modelId, modelDisplayName] as const),
        ]}
      />
      <ErrorNote error={error} title="The models could not be read" />
    </div>
  );
}
