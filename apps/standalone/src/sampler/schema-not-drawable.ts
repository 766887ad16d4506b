/** There is no value of this schema, or none that the sampler can find. */
export class SchemaNotDrawable extends Error {
  override readonly name = 'SchemaNotDrawable';
}
