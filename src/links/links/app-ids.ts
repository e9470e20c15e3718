/** True for an Android application id. */
export const isPackageName = (name: string): boolean =>
	name.length <= 255 && /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$/.test(name);

/** True for the App Store's number of an app. */
export const isAppStoreId = (id: string): boolean => /^\d{6,12}$/.test(id);
