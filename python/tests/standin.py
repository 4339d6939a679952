# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""The names of PySpark that sparqr.ml uses, for machines without PySpark.

Written from what PySpark 4's ``ml.wrapper`` documents and does with a Java stage (params sent as
pairs, ``fit`` and ``transform`` on ``_jdf``, classes found by name); it shows that the names in
sparqr.ml are those of the JVM. It is no PySpark: test_pyspark.py is for the real one.
"""

import functools
import sys
import types
import uuid


class Param:
    def __init__(self, parent, name, doc, typeConverter=None):
        self.parent, self.name, self.doc = parent, name, doc
        self.typeConverter = typeConverter or (lambda v: v)


class Params:
    def __init__(self):
        self.uid = f"{type(self).__name__}_{uuid.uuid4().hex[:12]}"
        self._paramMap, self._defaultParamMap = {}, {}

    @staticmethod
    def _dummy():
        return None

    @property
    def params(self):
        names = sorted(dir(type(self)))
        return [p for p in (getattr(type(self), n) for n in names) if isinstance(p, Param)]

    def _set(self, **values):
        for name, value in values.items():
            if value is not None:
                self._paramMap[name] = getattr(type(self), name).typeConverter(value)
        return self

    def _setDefault(self, **values):
        self._defaultParamMap.update(values)
        return self

    def getOrDefault(self, param):
        found = self._paramMap.get(param.name)
        return self._defaultParamMap[param.name] if found is None else found

    def _resetUid(self, uid):
        self.uid = uid


class TypeConverters:
    toString, toFloat, toBoolean = str, float, bool


def _mixin(name, default=None):
    def init(self):
        super(made, self).__init__()
        if default is not None:
            self._setDefault(**{name: default})

    getter = "get" + name[0].upper() + name[1:]
    body = {
        "__init__": init,
        name: Param(None, name, name),
        getter: lambda self: self.getOrDefault(getattr(type(self), name)),
    }
    made = type("Has" + name[0].upper() + name[1:], (Params,), body)
    return made


class JavaWrapper:
    context = None  # the Gateway of the tests

    def __init__(self, java_obj=None):
        super().__init__()
        self._java_obj = java_obj

    def _call_java(self, name, *args):
        return _to_python(getattr(self._java_obj, name)(*args))

    @staticmethod
    def _new_java_obj(java_class, *args):
        found = JavaWrapper.context.jvm
        for part in java_class.split("."):
            found = getattr(found, part)
        return found(*args)


def _to_python(value):
    name = value.getClass().getName() if hasattr(value, "getClass") else ""
    if name.startswith("org.apache.spark.ml.linalg."):
        value = value.toArray()
        name = "["
    return list(value) if name.startswith("[") or type(value).__name__ == "JavaArray" else value


class JavaParams(JavaWrapper, Params):
    def _transfer_params_to_java(self):
        for name, value in self._paramMap.items():
            self._java_obj.set(self._java_obj.getParam(name).w(value))
        pairs = [self._java_obj.getParam(n).w(v) for n, v in self._defaultParamMap.items()]
        if pairs:
            utils = JavaWrapper.context.jvm.org.apache.spark.api.python.PythonUtils
            self._java_obj.setDefault(utils.toSeq(pairs))

    @staticmethod
    def _from_java(java_stage):
        parts = java_stage.getClass().getName().replace("org.apache.spark", "pyspark").split(".")
        module = __import__(".".join(parts[:-1]), fromlist=[parts[-1]])
        stage = getattr(module, parts[-1])()
        stage._java_obj = java_stage
        stage._resetUid(java_stage.uid())
        for param in stage.params:
            java_param = java_stage.getParam(param.name)
            if java_stage.isSet(java_param):
                stage._set(**{param.name: java_stage.getOrDefault(java_param)})
        return stage


class JavaEstimator(JavaParams):
    def fit(self, dataset):
        return self._fit(dataset)

    def _fit(self, dataset):
        self._transfer_params_to_java()
        model = self._create_model(self._java_obj.fit(dataset._jdf))
        model._paramMap.update(self._paramMap)
        model._defaultParamMap.update(self._defaultParamMap)
        return model


class JavaModel(JavaParams):
    def __init__(self, java_model=None):
        super().__init__(java_model)
        if java_model is not None:
            self._resetUid(java_model.uid())

    def transform(self, dataset):
        self._transfer_params_to_java()
        return DataFrame(self._java_obj.transform(dataset._jdf), None)


class JavaMLWritable:
    def save(self, path):
        self._transfer_params_to_java()
        self._java_obj.write().save(path)


class JavaMLReader:
    def __init__(self, clazz):
        self._clazz = clazz
        found = JavaWrapper.context.jvm
        for part in self._java_loader_class(clazz).split("."):
            found = getattr(found, part)
        self._jread = found.read()

    def load(self, path):
        return self._clazz._from_java(self._jread.load(path))


class JavaMLReadable:
    @classmethod
    def load(cls, path):
        return cls.read().load(path)


class DataFrame:
    def __init__(self, jdf, session):
        self._jdf = jdf


class SparkSession:
    class builder:
        @staticmethod
        def getOrCreate():
            return None


class SparkContext:
    _active_spark_context = None


def keyword_only(method):
    @functools.wraps(method)
    def wrapper(self, **kwargs):
        self._input_kwargs = kwargs
        return method(self, **kwargs)

    return wrapper


def install(gateway):
    """Puts the stand-in where PySpark would be; its JVM is the gateway's."""
    JavaWrapper.context = gateway
    SparkContext._active_spark_context = types.SimpleNamespace(_jvm=gateway.jvm)
    shared = {
        "HasFeaturesCol": _mixin("featuresCol", "features"),
        "HasLabelCol": _mixin("labelCol", "label"),
        "HasPredictionCol": _mixin("predictionCol", "prediction"),
        "HasWeightCol": _mixin("weightCol"),
        "HasFitIntercept": _mixin("fitIntercept", True),
        "HasRegParam": _mixin("regParam"),
    }
    names = {
        "pyspark": dict(SparkContext=SparkContext, keyword_only=keyword_only),
        "pyspark.ml": {},
        "pyspark.ml.param": dict(Param=Param, Params=Params, TypeConverters=TypeConverters),
        "pyspark.ml.param.shared": shared,
        "pyspark.ml.util": dict(
            JavaMLReadable=JavaMLReadable, JavaMLReader=JavaMLReader, JavaMLWritable=JavaMLWritable
        ),
        "pyspark.ml.wrapper": dict(
            JavaEstimator=JavaEstimator, JavaModel=JavaModel, JavaWrapper=JavaWrapper
        ),
        "pyspark.sql": dict(DataFrame=DataFrame, SparkSession=SparkSession),
    }
    for name, contents in names.items():
        module = types.ModuleType(name)
        module.__dict__.update(contents)
        sys.modules[name] = module


def remove():
    """Takes it away, and what was imported on top of it."""
    for name in list(sys.modules):
        if name == "pyspark" or name.startswith("pyspark.") or name.startswith("io.sparqr."):
            del sys.modules[name]
    sys.modules.pop("sparqr.ml", None)
