declare module 'mnist' {
  /** By digit: all images one after the other, 784 pixels of 0 .. 1 each. */
  const digits: Readonly<Record<number, { readonly raw: readonly number[] }>>
  export default digits
}
