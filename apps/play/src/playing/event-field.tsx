import { Name } from '../ui/parts.js';
import type { Field } from './fields.js';

interface FieldProps {
  readonly id: string;
  readonly field: Field;
  readonly text: string;
  readonly mistake: string | undefined;
  readonly suggestions: readonly string[];
  readonly onType: (text: string) => void;
}

/** One field with its label, what it may hold and what is wrong with it. */
export function EventField({ id, field, text, mistake, suggestions, onType }: FieldProps) {
  const { label, hint, isRequired } = field;
  const said = [hint !== '' && `${id}-hint`, mistake !== undefined && `${id}-mistake`]
    .filter(Boolean)
    .join(' ');
  const shared = {
    id,
    required: isRequired,
    'aria-invalid': mistake !== undefined,
    ...(said !== '' && { 'aria-describedby': said }),
  };
  return (
    <div class="field">
      <label for={id}>
        <Name>{label}</Name>
        {!isRequired && <span class="muted"> (optional)</span>}
      </label>
      <Control field={field} shared={shared} text={text} onType={onType} suggestions={suggestions} />
      {suggestions.length > 0 && (
        <datalist id={`${id}-list`}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
      {hint !== '' && (
        <p id={`${id}-hint`} class="hint" dir="auto">
          {hint}
        </p>
      )}
      {mistake !== undefined && (
        <p id={`${id}-mistake`} class="mistake">
          {mistake}
        </p>
      )}
    </div>
  );
}

interface ControlProps extends Pick<FieldProps, 'field' | 'text' | 'suggestions' | 'onType'> {
  readonly shared: { readonly id: string; readonly required: boolean };
}

function Control({ field, shared, text, suggestions, onType }: ControlProps) {
  const { kind, options, isRequired } = field;
  switch (kind) {
    case 'choice':
      return (
        <select {...shared} value={text} onChange={(event) => onType(event.currentTarget.value)}>
          {(!isRequired || text === '') && <option value="">—</option>}
          {options.map((option, at) => (
            <option key={String(option)} value={String(at)}>
              {typeof option === 'string' ? option : JSON.stringify(option)}
            </option>
          ))}
        </select>
      );
    case 'boolean':
      return (
        <select {...shared} value={text || 'false'} onChange={(event) => onType(event.currentTarget.value)}>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      );
    case 'long':
    case 'json':
      return (
        <textarea {...shared} rows={3} value={text} onInput={(event) => onType(event.currentTarget.value)} />
      );
    case 'text':
    case 'whole':
    case 'number':
      return (
        <input
          {...shared}
          type="text"
          autocomplete="off"
          inputMode={kind === 'text' ? 'text' : kind === 'whole' ? 'numeric' : 'decimal'}
          dir={kind === 'text' ? 'auto' : 'ltr'}
          {...(suggestions.length > 0 && { list: `${shared.id}-list` })}
          value={text}
          onInput={(event) => onType(event.currentTarget.value)}
        />
      );
  }
}
