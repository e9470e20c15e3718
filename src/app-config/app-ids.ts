/** True for an Android application id. */
export const isPackageName = (name: string): boolean =>
	name.length <= 255 && /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$/.test(name);

/** True for the number that the App Store gives an app. */
export const isAppStoreId = (id: string): boolean => /^\d{6,12}$/.test(id);
