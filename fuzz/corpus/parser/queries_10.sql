select a name, b data, c type from t key;
