import type { ContentLimits } from '@orrery/contracts';

/** Counts are refused with 409 `limit_reached`, sizes (bytes of JSON) with 400 (docs/catalog.md). */
export interface CatalogLimits
  extends Pick<ContentLimits, 'promptBytes' | 'descriptionBytes' | 'domainTags' | 'domainTagCharacters'> {
  readonly schemasPerWorld: number;
  readonly attributesPerSchema: number;
  readonly eventsPerWorld: number;
  readonly versionsPerEvent: number;
  readonly schemaBytes: number;
  readonly versionBytes: number;
  /** All schemas of a world together; beyond it 409 `limit_reached`. */
  readonly worldSchemaBytes: number;
}
