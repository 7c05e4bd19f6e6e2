/** What only the platform can give: randomness that nobody can guess, and secrets between two peers. The edge passes it in. */

/** One side of a key agreement, good for one exchange. */
export interface KeyPair {
  /** For the other peers: 32 bytes of X25519. */
  readonly publicKey: Uint8Array
  /**
   * Bytes that only the two holders of the keys can compute, both the same: X25519, HKDF-SHA-256 with `info`, then the key stream of AES-128-CTR.
   * Rejects when `theirs` is no public key.
   */
  stream(theirs: Uint8Array, info: string, bytes: number): Promise<Uint8Array>
}

export interface Secrets {
  randomBytes(count: number): Uint8Array
  createKeyPair(): Promise<KeyPair>
}
