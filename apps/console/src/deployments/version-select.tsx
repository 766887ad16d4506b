import { useDeploymentRef } from '../api/deployments.js';
import { useVersions } from '../api/worlds.js';
import { SelectField } from '../ui/field.js';
import { ErrorNote } from '../ui/messages.js';

interface VersionSelectProps {
  event: string;
  value: number;
  onChange: (version: number) => void;
  /** One that is bound is offered also where the versions cannot be read. */
  bound?: number;
  /** What is said of a version: "version 2". */
  words?: (version: number) => string;
}

/** Chooses a version of an event of the world, the newest first. */
export function VersionSelect({
  event,
  value,
  onChange,
  bound = value,
  words = version,
}: VersionSelectProps) {
  const { data, error } = useVersions({ world: useDeploymentRef().world, event });
  const numbers = new Set([bound, value, ...(data?.data ?? []).map((one) => one.version)]);
  return (
    <div>
      <SelectField
        label="Version"
        value={String(value)}
        onChange={(next) => onChange(Number(next))}
        options={[...numbers].sort((a, b) => b - a).map((number) => [String(number), words(number)])}
      />
      <ErrorNote error={error} title="The versions could not be read" />
    </div>
  );
}

const version = (number: number): string => `version ${number}`;
