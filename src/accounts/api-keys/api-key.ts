import {hash, randomBytes, timingSafeEqual} from 'node:crypto';

export type Tier = 'CLIENT' | 'SERVER';

const tierPrefix: Record<Tier, string> = {CLIENT: 'opl_sdk_', SERVER: 'opl_api_'};

/** Hours that a superseded CLIENT key still authenticates; a SERVER key has none (contract/api-keys 3). */
export const CLIENT_GRACE_HOURS = 24;

/**
 * Length of a raw key's `prefix`, which the card shows and look-ups use (contract/api-keys 4).
 */
const PREFIX_LENGTH = 16;

/** A new raw key: the tier's 8 characters and 32 random bytes as base64url (contract/api-keys 1). */
export const mintRawKey = (tier: Tier): string => tierPrefix[tier] + randomBytes(32).toString('base64url');

const RAW_KEY = /^opl_(?:sdk|api)_[A-Za-z0-9_-]{43}$/;

/** Whether a text has the form of a raw key. Others are refused without a look-up. */
export const isRawKey = (text: string): boolean => RAW_KEY.test(text);

export const prefixOf = (rawKey: string): string => rawKey.slice(0, PREFIX_LENGTH);

export const hashRawKey = (rawKey: string): Buffer => hash('sha256', rawKey, 'buffer');

/** Compares in constant time: timing reveals nothing about the stored hash. */
export const isRawKeyOf = (keyHash: Buffer, rawKey: string): boolean => timingSafeEqual(keyHash, hashRawKey(rawKey));

/** The validity rule of contract/api-keys 2: not revoked, and not expired at `now`. */
export const isValidAt = (key: {isRevoked: boolean; expiresAt: Date | null}, now: Date): boolean =>
	!key.isRevoked && (key.expiresAt === null || key.expiresAt > now);
